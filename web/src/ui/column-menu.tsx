import { Button, IconButton } from "./button";
import { type ColumnLayoutControl, moveColumn } from "./column-layout";
import styles from "./column-menu.module.css";
import { Popover } from "./popover";

interface ColumnMenuProps {
  /** All columns in their order; the first cannot be hidden or moved. */
  readonly columns: readonly { readonly id: string; readonly label: string }[];
  readonly control: ColumnLayoutControl;
}

/** Shows, hides and orders columns. */
export function ColumnMenu({ columns, control }: ColumnMenuProps) {
  const { layout, change, reset, changed } = control;
  const ids = columns.map((column) => column.id);
  const toggle = (id: string, shown: boolean) =>
    change({ hidden: shown ? layout.hidden.filter((other) => other !== id) : [...layout.hidden, id] });
  return (
    <Popover
      label="Columns"
      end
      trigger={(props) => (
        <Button {...props} size="small" look="quiet" icon="columns">
          Columns
        </Button>
      )}
    >
      <div className={styles.list}>
        {columns.map(({ id, label }, index) => (
          <div key={id} className={styles.row}>
            <label className={styles.label}>
              <input
                type="checkbox"
                checked={!layout.hidden.includes(id)}
                disabled={index === 0}
                onChange={(event) => toggle(id, event.target.checked)}
              />
              {label}
            </label>
            {index > 1 && (
              <IconButton
                icon="chevron-up"
                size="small"
                label={`Move ${label} left`}
                onClick={() => change({ order: moveColumn(ids, id, -1) })}
              />
            )}
            {index > 0 && index < columns.length - 1 && (
              <IconButton
                icon="chevron-down"
                size="small"
                label={`Move ${label} right`}
                onClick={() => change({ order: moveColumn(ids, id, 1) })}
              />
            )}
          </div>
        ))}
      </div>
      <div className={styles.foot}>
        <span>Drag a header's edge for width</span>
        <Button
          size="small"
          look="quiet"
          onClick={reset}
          disabledReason={changed ? undefined : "The columns are as they come"}
        >
          Reset
        </Button>
      </div>
    </Popover>
  );
}

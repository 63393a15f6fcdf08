import { type PointerEvent, useRef } from "react";
import styles from "./data-table.module.css";
import type { TableColumn } from "./data-table-types";
import { Icon } from "./icon";
import type { SelectionModel, TableModel } from "./table-model";

interface TableHeadProps<T> {
  readonly model: TableModel<T>;
  readonly selection: SelectionModel | undefined;
}

export function TableHead<T>({ model, selection }: TableHeadProps<T>) {
  return (
    <thead>
      <tr>
        {selection !== undefined && (
          <th scope="col" className={styles.check} data-first="check">
            <input
              type="checkbox"
              aria-label="Select all rows"
              checked={selection.all}
              ref={(input) => {
                if (input !== null) input.indeterminate = selection.some;
              }}
              onChange={selection.toggleAll}
            />
          </th>
        )}
        {model.columns.map((column, place) => (
          <HeadCell
            key={column.id}
            model={model}
            column={column}
            first={place === 0}
            afterCheck={selection !== undefined}
          />
        ))}
      </tr>
    </thead>
  );
}

interface HeadCellProps<T> {
  readonly model: TableModel<T>;
  readonly column: TableColumn<T>;
  readonly first: boolean;
  readonly afterCheck: boolean;
}

function HeadCell<T>({ model, column, first, afterCheck }: HeadCellProps<T>) {
  const direction = model.sort?.id === column.id ? (model.sort.descending ? "descending" : "ascending") : undefined;
  const label = (
    <>
      {column.header}
      {column.unit !== undefined && <span className={styles.unit}>{column.unit}</span>}
    </>
  );
  return (
    <th
      scope="col"
      data-align={column.align ?? "start"}
      data-first={first ? "name" : undefined}
      data-after-check={first && afterCheck ? "" : undefined}
      aria-sort={direction}
    >
      {model.canSort(column) ? (
        <button type="button" className={styles.sort} onClick={() => model.toggleSort(column)}>
          {label}
          <Icon name={direction === "ascending" ? "sort-up" : "sort-down"} size={12} />
        </button>
      ) : (
        <span className={styles.head}>{label}</span>
      )}
      <Grip onWidth={(width) => model.setWidth(column, width)} />
    </th>
  );
}

/** Drags the edge of a column. Widths are for the eye: each value can be read whole without them. */
function Grip({ onWidth }: { readonly onWidth: (width: number | undefined) => void }) {
  const start = useRef<{ x: number; width: number }>(undefined);
  const begin = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    const cell = event.currentTarget.parentElement;
    if (cell === null) return;
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    start.current = { x: event.clientX, width: cell.offsetWidth };
  };
  const move = (event: PointerEvent) => {
    if (start.current !== undefined) onWidth(start.current.width + event.clientX - start.current.x);
  };
  const end = () => {
    start.current = undefined;
  };
  return (
    <span
      aria-hidden="true"
      className={styles.grip}
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
      onDoubleClick={() => onWidth(undefined)}
    />
  );
}

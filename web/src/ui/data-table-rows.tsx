import { type MouseEvent, memo, type ReactNode } from "react";
import { classes } from "~/lib/classes";
import styles from "./data-table.module.css";
import type { DataTableProps, TableColumn } from "./data-table-types";
import type { TableRowModel } from "./table-model";

interface TableRowProps<T> {
  readonly row: TableRowModel<T>;
  /** Its place in the whole list, given where only a part of it is in the document. */
  readonly index: number | undefined;
  readonly columns: readonly TableColumn<T>[];
  readonly props: DataTableProps<T>;
  /** Whether the row is picked; undefined where rows cannot be. */
  readonly checked: boolean | undefined;
  readonly onToggle: (id: string, range: boolean) => void;
  readonly tabbable: boolean;
  readonly onActive: (id: string) => void;
}

/** Memoised: while a long list scrolls, the rows that stay in sight are not drawn again. */
export const TableRow = memo(PlainRow) as typeof PlainRow;

function PlainRow<T>({ row, index, columns, props, checked, onToggle, tabbable, onActive }: TableRowProps<T>) {
  const { hrefOf, onOpen, openId, isDead } = props;
  const item = row.original;
  const usable = onOpen !== undefined || props.copyOf !== undefined;
  const open = (event: MouseEvent) => {
    onActive(row.id);
    if (onOpen === undefined || isForeignClick(event)) return;
    event.preventDefault();
    onOpen(item);
  };
  return (
    <tr
      className={classes(styles.row, onOpen !== undefined && styles.clickable)}
      data-row-id={row.id}
      data-open={row.id === openId ? "" : undefined}
      data-tone={isDead?.(item) ? "dead" : undefined}
      aria-selected={checked}
      aria-rowindex={index === undefined ? undefined : index + 2}
      tabIndex={usable ? (tabbable ? 0 : -1) : undefined}
      onClick={open}
      onFocus={(event) => {
        if (event.target === event.currentTarget) onActive(row.id);
      }}
    >
      {checked !== undefined && (
        <td className={styles.check} data-first="check">
          <input
            type="checkbox"
            aria-label={`Select ${row.id}`}
            checked={checked}
            onChange={(event) => onToggle(row.id, (event.nativeEvent as PointerEvent).shiftKey)}
          />
        </td>
      )}
      {columns.map((column, place) => {
        const content: ReactNode = column.cell(item);
        return (
          <td
            key={column.id}
            data-align={column.align ?? "start"}
            data-first={place === 0 ? "name" : undefined}
            data-after-check={place === 0 && checked !== undefined ? "" : undefined}
          >
            {place === 0 && hrefOf !== undefined ? (
              <a className={styles.link} href={hrefOf(item)} tabIndex={usable ? -1 : undefined} onClick={open}>
                {content}
              </a>
            ) : (
              content
            )}
            {column.note !== undefined && <span className={styles.note}>{column.note(item)}</span>}
          </td>
        );
      })}
    </tr>
  );
}

/** A click that is not meant for the row: on a control in it, to open a new tab, to select text. */
function isForeignClick(event: MouseEvent): boolean {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return true;
  const target = event.target instanceof Element ? event.target : null;
  const control = target?.closest("a, button, input, label, select, textarea") ?? null;
  if (control !== null && control !== event.currentTarget) return true;
  return window.getSelection()?.isCollapsed === false;
}

const BONES = ["62%", "48%", "70%", "38%", "55%"];

/** Rows of the final height; their bones appear after 150 ms, so a quick answer shows none. */
export function SkeletonRows({ columns, rows }: { readonly columns: number; readonly rows: number }) {
  return Array.from({ length: rows }, (_, row) => (
    <tr key={row} aria-hidden="true">
      {Array.from({ length: columns }, (_unused, column) => (
        <td key={column}>
          <span
            className={styles.bone}
            ref={(bone) => bone?.style.setProperty("--bone", BONES[(row * 3 + column * 2) % 5] ?? "60%")}
          />
        </td>
      ))}
    </tr>
  ));
}

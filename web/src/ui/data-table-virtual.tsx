// The rows of a long list: only those in sight are in the document. Apart from the list itself, since most lists are short.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useEffect } from "react";
import styles from "./data-table.module.css";
import { ROW_HEIGHT } from "./data-table-types";
import type { TableRowModel } from "./table-model";

interface VirtualRowsProps<T> {
  readonly rows: readonly TableRowModel<T>[];
  readonly scroller: RefObject<HTMLElement | null>;
  /** How many columns a spacer has to span. */
  readonly span: number;
  /** Where the list of rows puts its way to bring a row into sight. */
  readonly bringIntoSight: RefObject<((index: number) => void) | undefined>;
  readonly children: (row: TableRowModel<T>, index: number) => ReactNode;
}

export default function VirtualRows<T>(props: VirtualRowsProps<T>) {
  const { rows, scroller, span, bringIntoSight, children } = props;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    scrollPaddingStart: ROW_HEIGHT,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  useEffect(() => {
    bringIntoSight.current = (index) => virtual.scrollToIndex(index);
    return () => {
      bringIntoSight.current = undefined;
    };
  }, [virtual, bringIntoSight]);
  const items = virtual.getVirtualItems();
  return (
    <>
      <Spacer height={items[0]?.start ?? 0} span={span} />
      {items.map(({ index }) => {
        const row = rows[index];
        return row === undefined ? null : children(row, index);
      })}
      <Spacer height={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} span={span} />
    </>
  );
}

/** Stands for the rows above or below that are not in the document. */
function Spacer({ height, span }: { readonly height: number; readonly span: number }) {
  return (
    <tr className={styles.spacer} aria-hidden="true">
      <td colSpan={span} style={{ height }} />
    </tr>
  );
}

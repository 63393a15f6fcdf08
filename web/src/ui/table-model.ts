// What a list shows: which columns in which order and width, which rows in which order, which of them are picked. Own code,
// since a table library weighed a tenth of the first page for these few rules.
import { useMemo, useRef, useState } from "react";
import type { Sort } from "~/lib/search-state";
import { type ColumnLayoutControl, orderColumns } from "./column-layout";
import type { DataTableProps, SortValue, TableColumn } from "./data-table-types";

export interface TableRowModel<T> {
  readonly id: string;
  readonly original: T;
}

export interface TableModel<T> {
  /** Those in sight, in their order. */
  readonly columns: readonly TableColumn<T>[];
  readonly rows: readonly TableRowModel<T>[];
  readonly sort: Sort | undefined;
  readonly widthOf: (column: TableColumn<T>) => number;
  readonly canSort: (column: TableColumn<T>) => boolean;
  readonly toggleSort: (column: TableColumn<T>) => void;
  readonly setWidth: (column: TableColumn<T>, width: number | undefined) => void;
}

export const LEAST_WIDTH = 56;
const MOST_WIDTH = 1600;
const PLAIN_WIDTH = 140;

export function useTableModel<T>(props: DataTableProps<T>, control: ColumnLayoutControl): TableModel<T> {
  const { columns, rows, rowId, onSort } = props;
  const { layout, change } = control;
  const [ownSort, setOwnSort] = useState(props.sort);
  const sort = onSort === undefined ? ownSort : props.sort;

  const shown = useMemo(() => {
    const byId = new Map(columns.map((column) => [column.id, column]));
    return orderColumns([...byId.keys()], layout.order)
      .filter((id, place) => place === 0 || !layout.hidden.includes(id))
      .flatMap((id) => byId.get(id) ?? []);
  }, [columns, layout.order, layout.hidden]);

  const sortValue =
    onSort === undefined && sort !== undefined ? columns.find(({ id }) => id === sort.id)?.sortValue : undefined;
  const sorted = useMemo(() => {
    const models = rows.map((original) => ({ id: rowId(original), original }));
    if (sortValue === undefined || sort === undefined) return models;
    return sortBy(models, (row) => sortValue(row.original), sort.descending);
  }, [rows, rowId, sort, sortValue]);

  return {
    columns: shown,
    rows: sorted,
    sort,
    widthOf: (column) => layout.widths[column.id] ?? column.width ?? PLAIN_WIDTH,
    canSort: (column) => (onSort === undefined ? column.sortValue !== undefined : column.sortable === true),
    toggleSort: (column) => (onSort ?? setOwnSort)(nextSort(sort, column.id, column.align === "end")),
    setWidth: (column, width) => {
      const { [column.id]: _before, ...others } = layout.widths;
      change({ widths: width === undefined ? others : { ...others, [column.id]: clampWidth(width) } });
    },
  };
}

function clampWidth(width: number): number {
  return Math.round(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, width)));
}

/** First the useful direction (figures: the largest), then the other, then as it came. */
export function nextSort(sort: Sort | undefined, id: string, largestFirst: boolean): Sort | undefined {
  if (sort?.id !== id) return { id, descending: largestFirst };
  return sort.descending === largestFirst ? { id, descending: !largestFirst } : undefined;
}

/** Sorts without moving equals; what has no value comes last in both directions. */
export function sortBy<R>(rows: readonly R[], read: (row: R) => SortValue, descending: boolean): R[] {
  return rows
    .map((row) => ({ row, value: read(row) }))
    .sort((a, b) => {
      if (a.value === undefined || b.value === undefined) {
        return Number(a.value === undefined) - Number(b.value === undefined);
      }
      return (descending ? -1 : 1) * compareValues(a.value, b.value);
    })
    .map(({ row }) => row);
}

/** Texts by the rules of the language with numbers inside them by value: ts-2 before ts-10. */
function compareValues(a: NonNullable<SortValue>, b: NonNullable<SortValue>): number {
  if (typeof a === "string" && typeof b === "string") return collator.compare(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

const collator = new Intl.Collator(undefined, { numeric: true });

export interface SelectionModel {
  readonly isSelected: (id: string) => boolean;
  readonly all: boolean;
  readonly some: boolean;
  readonly toggleAll: () => void;
  /** With `range` all between the row picked last and this one. */
  readonly toggle: (id: string, range: boolean) => void;
}

/** Picked rows; undefined where rows cannot be picked. */
export function useSelectionModel<T>(
  props: DataTableProps<T>,
  rows: readonly TableRowModel<T>[],
): SelectionModel | undefined {
  const anchor = useRef<string>(undefined);
  const { selected = NONE, onSelect } = props;
  if (onSelect === undefined) return undefined;
  const count = rows.filter((row) => selected.has(row.id)).length;
  return {
    isSelected: (id) => selected.has(id),
    all: rows.length > 0 && count === rows.length,
    some: count > 0 && count < rows.length,
    toggleAll: () => onSelect(count === rows.length ? new Set() : new Set(rows.map((row) => row.id))),
    toggle: (id, range) => {
      const ids = rows.map((row) => row.id);
      onSelect(toggled(selected, ids, id, range ? anchor.current : undefined));
      anchor.current = id;
    },
  };
}

const NONE: ReadonlySet<string> = new Set();

/** The picked ids after a click on one; all from the anchor to it take the state that it gets. */
export function toggled(
  selected: ReadonlySet<string>,
  ids: readonly string[],
  id: string,
  anchor: string | undefined,
): ReadonlySet<string> {
  const next = new Set(selected);
  const picks = !selected.has(id);
  const to = ids.indexOf(id);
  const from = anchor === undefined ? to : ids.indexOf(anchor);
  const [first, last] = from === -1 ? [to, to] : from < to ? [from, to] : [to, from];
  for (const each of ids.slice(first, last + 1)) {
    if (picks) next.add(each);
    else next.delete(each);
  }
  return next;
}

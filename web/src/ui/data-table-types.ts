import type { ReactNode } from "react";
import type { Sort } from "~/lib/search-state";

/** Every row is as high as the next: what is in sight follows from where the list is scrolled to. */
export const ROW_HEIGHT = 34;

export type SortValue = string | number | bigint | boolean | undefined;

export interface TableColumn<T> {
  readonly id: string;
  readonly header: string;
  /** Spelled in the head: "MiB/s", "rows". */
  readonly unit?: string;
  readonly cell: (row: T) => ReactNode;
  /** In grey after the cell, outside the link of a first column. */
  readonly note?: (row: T) => ReactNode;
  readonly align?: "start" | "end";
  readonly width?: number;
  /** Takes the room that is left. */
  readonly grow?: boolean;
  /** Makes the column sortable in the browser; for lists that are whole. Undefined values come last. */
  readonly sortValue?: (row: T) => SortValue;
  /** Makes the column sortable by the server, where `onSort` is given. */
  readonly sortable?: boolean;
}

export interface DataTableProps<T> {
  readonly label: string;
  readonly columns: readonly TableColumn<T>[];
  readonly rows: readonly T[];
  readonly rowId: (row: T) => string;
  /** The order shown. With `onSort` the caller (the server) sorts, else the browser does. */
  readonly sort?: Sort | undefined;
  readonly onSort?: (sort: Sort | undefined) => void;
  /** The address of a row: makes the first column a real link. */
  readonly hrefOf?: (row: T) => string;
  readonly onOpen?: (row: T) => void;
  /** The row whose detail is open. */
  readonly openId?: string | undefined;
  /** What `y` copies. */
  readonly copyOf?: (row: T) => string;
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (ids: ReadonlySet<string>) => void;
  readonly isDead?: (row: T) => boolean;
  /** Keeps the columns a person chose under this name. */
  readonly layoutKey?: string;
  /** The keys j, k, Enter and y act on this list wherever the focus is; for the one list of a page. */
  readonly pageKeys?: boolean;
  readonly loading?: boolean;
  readonly skeletonRows?: number;
  /** Being read again; the rows stay. */
  readonly refreshing?: boolean;
  /** Shown in place of rows: one of the list states. */
  readonly instead?: ReactNode;
  readonly toolbar?: ReactNode;
  readonly foot?: ReactNode;
}

// The list of the console: one component for ten rows and for ten thousand. Above VIRTUAL_ABOVE rows only those in sight are
// in the document; their number does not grow with the list.
import { lazy, type RefObject, Suspense, useCallback, useLayoutEffect, useRef, useState } from "react";
import { type ColumnLayoutControl, orderColumns, useColumnLayout } from "./column-layout";
import { ColumnMenu } from "./column-menu";
import styles from "./data-table.module.css";
import { TableHead } from "./data-table-head";
import { SkeletonRows, TableRow } from "./data-table-rows";
import type { DataTableProps } from "./data-table-types";
import type VirtualRowsType from "./data-table-virtual";
import {
  type SelectionModel,
  type TableModel,
  type TableRowModel,
  useSelectionModel,
  useTableModel,
} from "./table-model";
import { useOverflows } from "./use-overflows";
import { useRowKeys } from "./use-row-keys";

const VirtualRows = lazy(() => import("./data-table-virtual")) as unknown as typeof VirtualRowsType;

export const VIRTUAL_ABOVE = 100;
const CHECK_WIDTH = 38;

export function DataTable<T>(props: DataTableProps<T>) {
  const { loading = false, onOpen, copyOf } = props;
  const control = useColumnLayout(props.layoutKey);
  const model = useTableModel(props, control);
  const scroller = useRef<HTMLDivElement>(null);
  const bringIntoSight = useRef<(index: number) => void>(undefined);
  const [scrolled, setScrolled] = useState(false);
  const overflows = useOverflows(scroller);
  const [active, setActive] = useState<string>();

  const { rows } = model;
  const selection = useSelectionModel(props, rows);
  const isVirtual = rows.length > VIRTUAL_ABOVE;
  const pageKeys = props.pageKeys ?? false;
  const keys = useRowKeys({ rows, active, setActive, scroller, bringIntoSight, onOpen, copyOf, pageKeys });
  const checkWidth = selection === undefined ? 0 : CHECK_WIDTH;
  const least = model.columns.reduce((sum, column) => sum + model.widthOf(column), checkWidth);

  return (
    <div className={styles.frame}>
      <Toolbar props={props} control={control} />
      {props.refreshing && <div className={styles.refreshing} aria-hidden="true" />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys of the rows in it. */}
      <div
        ref={scroller}
        className={styles.scroll}
        // Rows that can be reached bring it along; others need this to be scrolled by keys.
        tabIndex={overflows && (rows.length === 0 || (onOpen === undefined && copyOf === undefined)) ? 0 : undefined}
        data-bounded={isVirtual ? "" : undefined}
        data-scrolled={scrolled ? "" : undefined}
        onScroll={(event) => setScrolled(event.currentTarget.scrollLeft > 0)}
        onKeyDown={keys.onKeyDown}
      >
        <table
          className={styles.table}
          aria-label={props.label}
          aria-busy={loading || undefined}
          aria-rowcount={isVirtual ? rows.length + 1 : undefined}
          style={{ minWidth: least }}
        >
          <Widths model={model} control={control} withCheck={selection !== undefined} />
          <TableHead model={model} selection={selection} />
          <tbody>
            <Body
              props={props}
              model={model}
              selection={selection}
              active={active}
              onActive={setActive}
              scroller={scroller}
              bringIntoSight={bringIntoSight}
            />
          </tbody>
        </table>
      </div>
      {props.foot !== undefined && <div className={styles.foot}>{props.foot}</div>}
    </div>
  );
}

interface ToolbarProps<T> {
  readonly props: DataTableProps<T>;
  readonly control: ColumnLayoutControl;
}

function Toolbar<T>({ props, control }: ToolbarProps<T>) {
  if (props.toolbar === undefined && props.layoutKey === undefined) return null;
  const labels = new Map(props.columns.map((column) => [column.id, column.header]));
  const ordered = orderColumns([...labels.keys()], control.layout.order);
  return (
    <div className={styles.toolbar}>
      {props.toolbar}
      {props.layoutKey !== undefined && (
        <span className={styles["toolbar-end"]}>
          <ColumnMenu control={control} columns={ordered.map((id) => ({ id, label: labels.get(id) ?? id }))} />
        </span>
      )}
    </div>
  );
}

interface WidthsProps<T> {
  readonly model: TableModel<T>;
  readonly control: ColumnLayoutControl;
  readonly withCheck: boolean;
}

/** The widths of the columns; one that grows takes what is left, until a person gives it a width. */
function Widths<T>({ model, control, withCheck }: WidthsProps<T>) {
  return (
    <colgroup>
      {withCheck && <col style={{ width: CHECK_WIDTH }} />}
      {model.columns.map((column) => {
        const grows = column.grow === true && control.layout.widths[column.id] === undefined;
        return <col key={column.id} style={grows ? undefined : { width: model.widthOf(column) }} />;
      })}
    </colgroup>
  );
}

interface BodyProps<T> {
  readonly props: DataTableProps<T>;
  readonly model: TableModel<T>;
  readonly selection: SelectionModel | undefined;
  readonly active: string | undefined;
  readonly onActive: (id: string) => void;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly bringIntoSight: RefObject<((index: number) => void) | undefined>;
}

function Body<T>({ props, model, selection, active, onActive, scroller, bringIntoSight }: BodyProps<T>) {
  const { rows, columns } = model;
  const span = columns.length + (selection === undefined ? 0 : 1);
  const toggle = useLatest(selection?.toggle);
  const skeleton = <SkeletonRows columns={span} rows={props.skeletonRows ?? 8} />;
  if (props.loading) return skeleton;
  if (props.instead !== undefined) {
    return (
      <tr className={styles.instead}>
        <td colSpan={span}>
          <div className={styles["instead-inner"]}>{props.instead}</div>
        </td>
      </tr>
    );
  }
  const isVirtual = rows.length > VIRTUAL_ABOVE;
  const draw = (row: TableRowModel<T>, index: number) => (
    <TableRow
      key={row.id}
      row={row}
      index={isVirtual ? index : undefined}
      columns={columns}
      props={props}
      checked={selection?.isSelected(row.id)}
      onToggle={toggle}
      tabbable={active === undefined ? index === 0 : row.id === active}
      onActive={onActive}
    />
  );
  if (!isVirtual) return rows.map(draw);
  return (
    <Suspense fallback={skeleton}>
      <VirtualRows rows={rows} scroller={scroller} span={span} bringIntoSight={bringIntoSight}>
        {draw}
      </VirtualRows>
    </Suspense>
  );
}

/** A function that stays the same and calls the newest one: what is handed on does not make rows be drawn anew. */
function useLatest<A extends unknown[]>(call: ((...args: A) => void) | undefined): (...args: A) => void {
  const latest = useRef(call);
  useLayoutEffect(() => {
    latest.current = call;
  });
  return useCallback((...args) => latest.current?.(...args), []);
}

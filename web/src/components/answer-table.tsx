// A list of a cluster's answer: it is read, drawn and turned over in the same way on every page.
import { DataTable } from "~/ui/data-table";
import type { DataTableProps } from "~/ui/data-table-types";
import { Pager } from "./pager";
import type { Answer } from "./use-answer";

interface Counted {
  readonly matched_count: number;
  readonly total_count: number;
}

interface Page {
  readonly offset: number;
  readonly limit: number;
  readonly onOffset: (offset: number) => void;
}

type Own = "copyOf" | "pageKeys" | "loading" | "refreshing" | "foot" | "instead";

interface AnswerTableProps<T> extends Omit<DataTableProps<T>, Own> {
  readonly answer: Answer<unknown>;
  /** Stands in place of the rows of an answer without any. */
  readonly empty: DataTableProps<T>["instead"];
  readonly foot?: DataTableProps<T>["foot"];
  /** More is being read than the answer itself. */
  readonly reading?: boolean;
}

export function AnswerTable<T>({ answer, empty, reading = false, foot, ...table }: AnswerTableProps<T>) {
  const isEmpty = answer.data !== undefined && table.rows.length === 0;
  return (
    <DataTable
      {...table}
      copyOf={(row) => JSON.stringify(row, undefined, 2)}
      pageKeys
      loading={answer.loading}
      refreshing={answer.refreshing || reading}
      foot={answer.data !== undefined && foot}
      instead={answer.instead ?? (isEmpty ? empty : undefined)}
    />
  );
}

interface PagedTableProps<T> extends Omit<AnswerTableProps<T>, "foot" | "answer"> {
  readonly answer: Answer<Counted>;
  readonly page: Page;
}

/** A list that comes in pages. */
export function PagedTable<T>({ page, ...table }: PagedTableProps<T>) {
  const { data } = table.answer;
  return (
    <AnswerTable
      {...table}
      foot={
        data && (
          <Pager
            offset={page.offset}
            limit={page.limit}
            shown={table.rows.length}
            matched={data.matched_count}
            total={data.total_count}
            onOffset={page.onOffset}
          />
        )
      }
    />
  );
}

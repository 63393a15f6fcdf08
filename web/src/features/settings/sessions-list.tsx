import type { UseQueryResult } from "@tanstack/react-query";
import type { SessionRow } from "~/api/access";
import { FailureView } from "~/components/failure-view";
import { Button } from "~/ui/button";
import { DataTable } from "~/ui/data-table";
import { EmptyState } from "~/ui/list-states";
import { StateChip } from "~/ui/state-chip";
import { Mono, RelativeTime } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";

interface SessionsListProps {
  readonly query: UseQueryResult<{ readonly items: readonly SessionRow[] }, unknown>;
  readonly notAllowed: string | undefined;
  readonly onEnd: (id: string) => void;
}

/** Where someone is signed in. */
export function SessionsList({ query, notAllowed, onEnd }: SessionsListProps) {
  const rows = query.data?.items ?? [];
  return (
    <DataTable
      label="Sessions"
      rows={rows}
      rowId={(row) => row.id}
      loading={query.isPending}
      skeletonRows={2}
      refreshing={query.isRefetching}
      columns={[
        {
          id: "agent",
          header: "Browser",
          width: 230,
          grow: true,
          cell: (row) => (
            <span title={row.user_agent}>
              {row.is_current && <StateChip state="ok">this one</StateChip>} <VisibleText text={row.user_agent} />
            </span>
          ),
        },
        { id: "source", header: "From", width: 130, cell: (row) => <Mono>{row.source}</Mono> },
        { id: "seen", header: "Seen", width: 100, align: "end", cell: (row) => <RelativeTime at={row.last_seen_at} /> },
        { id: "ends", header: "Ends", width: 100, align: "end", cell: (row) => <RelativeTime at={row.expires_at} /> },
        {
          id: "end",
          header: "Actions",
          width: 80,
          cell: (row) => (
            <Button
              size="small"
              look="quiet"
              disabledReason={row.is_current ? "This is the session you are using; sign out instead" : notAllowed}
              onClick={() => onEnd(row.id)}
            >
              End
            </Button>
          ),
        },
      ]}
      instead={
        query.isError && query.data === undefined ? (
          <FailureView error={query.error} onRetry={() => void query.refetch()} retrying={query.isFetching} />
        ) : query.data && rows.length === 0 ? (
          <EmptyState title="Signed in nowhere" compact />
        ) : undefined
      }
    />
  );
}

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type AuditEntry, type AuditFilter, auditQuery } from "~/api/access";
import { fetchClient } from "~/api/client";
import type { components } from "~/api/schema";
import { AsCommand } from "~/components/as-command";
import { FailureView } from "~/components/failure-view";
import { countWords } from "~/lib/count";
import { reasonNotAllowed } from "~/lib/grants";
import { formatInstant, readInstant, resolveZone } from "~/lib/instant";
import { Button } from "~/ui/button";
import { CopyButton } from "~/ui/copy-button";
import { DataTable } from "~/ui/data-table";
import type { TableColumn } from "~/ui/data-table-types";
import { PrefixedField } from "~/ui/fields";
import { KeyValue } from "~/ui/key-value";
import { EmptyState, FilteredEmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { SidePanel, WithSidePanel } from "~/ui/side-panel";
import { StateChip } from "~/ui/state-chip";
import { Mono, Offset, Time } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { useZone } from "~/ui/zone";
import { outcomeState } from "./audit-outcome";
import styles from "./settings.module.css";
import { useChange } from "./use-change";

const COLUMNS: readonly TableColumn<AuditEntry>[] = [
  { id: "at", header: "When", width: 190, cell: (row) => <Time at={row.at} precision="second" /> },
  {
    id: "who",
    header: "Who",
    width: 150,
    cell: (row) => <VisibleText text={row.principal_name} />,
    note: (row) => row.principal_kind !== "user" && row.principal_kind,
  },
  { id: "action", header: "Action", width: 210, cell: (row) => <Mono>{row.action}</Mono> },
  {
    id: "target",
    header: "On",
    width: 260,
    grow: true,
    cell: (row) => (
      <Mono title={row.target}>
        <VisibleText text={row.target} />
      </Mono>
    ),
  },
  { id: "outcome", header: "Outcome", width: 150, cell: (row) => <Outcome outcome={row.outcome} /> },
];

function Outcome({ outcome }: { readonly outcome: string }) {
  return <StateChip state={outcomeState(outcome)}>{outcome}</StateChip>;
}

export interface AuditView extends AuditFilter {
  readonly open: string | undefined;
}

interface AuditProps {
  readonly grants: readonly string[];
  readonly view: AuditView;
  readonly hrefOf: (seq: string) => string;
  readonly onChange: (change: Partial<AuditView>) => void;
  readonly onBack: () => void;
}

/** Who did what, the newest first; and whether the log is whole. */
export function Audit({ grants, view, hrefOf, onChange, onBack }: AuditProps) {
  const query = useQuery({ ...auditQuery(view), placeholderData: (before) => before });
  const rows = query.data?.items ?? [];
  const opened = rows.find((row) => String(row.seq) === view.open);
  const filtered = [view.action, view.target, view.principal, view.from, view.until].some(Boolean);
  const clear = {
    action: undefined,
    target: undefined,
    principal: undefined,
    from: undefined,
    until: undefined,
    before: undefined,
  };
  const next = query.data?.next_cursor ?? undefined;
  return (
    <>
      <PageTitle
        actions={
          <Button icon="refresh" busy={query.isFetching} onClick={() => void query.refetch()}>
            Read again
          </Button>
        }
      >
        {filtered ? "What was done, filtered" : "What was done, the newest first"}
      </PageTitle>
      <Verify notAllowed={reasonNotAllowed(grants, "pegel.audit.read")} />
      <WithSidePanel
        panel={
          opened && (
            <EntrySheet
              entry={opened}
              onClose={() => onChange({ open: undefined })}
              onOnly={(filter) => onChange({ ...filter, before: undefined, open: undefined })}
            />
          )
        }
      >
        <Panel flush>
          <Filters
            key={JSON.stringify([view.action, view.target, view.principal, view.from, view.until])}
            view={view}
            onChange={(change) => onChange({ ...change, before: undefined })}
            onClear={filtered ? () => onChange(clear) : undefined}
          />
          <DataTable
            label="Audit log"
            layoutKey="audit"
            columns={COLUMNS}
            rows={rows}
            rowId={(row) => String(row.seq)}
            hrefOf={(row) => hrefOf(String(row.seq))}
            onOpen={(row) => onChange({ open: String(row.seq) })}
            openId={view.open}
            copyOf={(row) => JSON.stringify(row, undefined, 2)}
            pageKeys
            loading={query.isPending}
            refreshing={query.isRefetching}
            foot={
              query.data && (
                <div className={styles.foot}>
                  <span>
                    {countWords(rows.length, "row")}
                    {next === undefined ? ", down to the first" : ""}
                  </span>
                  <span style={{ display: "inline-flex", gap: 6, marginLeft: "auto" }}>
                    <Button
                      size="small"
                      disabledReason={view.before === undefined ? "These are the newest" : undefined}
                      onClick={() => onChange({ before: undefined, open: undefined })}
                    >
                      Newest
                    </Button>
                    <Button
                      size="small"
                      disabledReason={view.before === undefined ? "These are the newest" : undefined}
                      onClick={onBack}
                    >
                      Back
                    </Button>
                    <Button
                      size="small"
                      disabledReason={next === undefined ? "There are none before these" : undefined}
                      onClick={() => onChange({ before: next, open: undefined })}
                    >
                      Older
                    </Button>
                  </span>
                </div>
              )
            }
            instead={
              query.isError && query.data === undefined ? (
                <FailureView error={query.error} onRetry={() => void query.refetch()} retrying={query.isFetching} />
              ) : query.data === undefined || rows.length > 0 ? undefined : filtered ? (
                <FilteredEmptyState title="No row matches" onClear={() => onChange(clear)} />
              ) : (
                <EmptyState title="No row here">What is done and refused is written down as it happens.</EmptyState>
              )
            }
          />
        </Panel>
      </WithSidePanel>
      <AsCommand
        cli={[
          "audit",
          "list",
          ...(view.action ? ["--action", view.action] : []),
          ...(view.target ? ["--target", view.target] : []),
          ...(view.before ? ["--before", view.before] : []),
        ]}
        path="audit"
        query={{
          action: view.action,
          target: view.target,
          principal_id: view.principal,
          from: view.from,
          until: view.until,
          before: view.before,
        }}
      />
    </>
  );
}

interface FiltersProps {
  readonly view: AuditView;
  readonly onChange: (change: Partial<AuditView>) => void;
  readonly onClear: (() => void) | undefined;
}

function Filters({ view, onChange, onClear }: FiltersProps) {
  const [action, setAction] = useState(view.action ?? "");
  const [target, setTarget] = useState(view.target ?? "");
  const [principal, setPrincipal] = useState(view.principal ?? "");
  const zone = useZone();
  const [from, setFrom] = useState(view.from ? formatInstant(view.from, zone) : "");
  const [until, setUntil] = useState(view.until ? formatInstant(view.until, zone) : "");
  const bad = [from, until].some((time) => time !== "" && readInstant(time, zone) === undefined);
  return (
    <form
      style={{ display: "flex", flexWrap: "wrap", gap: 8, padding: "10px 14px" }}
      onSubmit={(event) => {
        event.preventDefault();
        if (bad) return;
        onChange({
          action: action || undefined,
          target: target || undefined,
          principal: principal || undefined,
          from: readInstant(from, zone),
          until: readInstant(until, zone),
        });
      }}
    >
      <PrefixedField label="action" mono width={120} placeholder="users.create" value={action} onChange={setAction} />
      <PrefixedField label="on" mono width={130} placeholder="cluster/lab" value={target} onChange={setTarget} />
      <PrefixedField label="actor id" mono width={130} value={principal} onChange={setPrincipal} />
      <PrefixedField label="from" mono width={160} placeholder="2026-11-30 00:00" value={from} onChange={setFrom} />
      <PrefixedField label="until" mono width={160} value={until} onChange={setUntil} />
      <Button
        type="submit"
        disabledReason={
          bad ? `Not a time: write 2026-11-30 03:00 by the clocks of ${resolveZone(zone)}, or RFC 3339` : undefined
        }
      >
        Filter
      </Button>
      {onClear && (
        <Button look="quiet" onClick={onClear}>
          Clear filter
        </Button>
      )}
    </form>
  );
}

interface EntrySheetProps {
  readonly entry: AuditEntry;
  readonly onClose: () => void;
  readonly onOnly: (filter: Pick<AuditView, "principal"> | Pick<AuditView, "target">) => void;
}

function EntrySheet({ entry, onClose, onOnly }: EntrySheetProps) {
  return (
    <SidePanel
      title={entry.action}
      onClose={onClose}
      focusKey={String(entry.seq)}
      tools={<CopyButton text={() => JSON.stringify(entry, undefined, 2)} what="row as JSON" />}
      foot={
        <>
          <Button size="small" onClick={() => onOnly({ principal: entry.principal_id })}>
            Only this actor
          </Button>
          <Button size="small" onClick={() => onOnly({ target: entry.target })}>
            Only this target
          </Button>
        </>
      }
    >
      <KeyValue
        items={[
          ["when", <Time key="v" at={entry.at} />],
          ["who", <VisibleText key="v" text={`${entry.principal_name} (${entry.principal_kind})`} />],
          ["actor id", <Mono key="v">{entry.principal_id}</Mono>],
          ["on", <VisibleText key="v" text={entry.target} />],
          ["outcome", <Outcome key="v" outcome={entry.outcome} />],
          ["row", <Offset key="v" value={entry.seq} />],
          [
            "request",
            <span key="v">
              <Mono>{entry.request_id}</Mono> <CopyButton text={entry.request_id} what="request id" />
            </span>,
          ],
        ]}
      />
    </SidePanel>
  );
}

function Verify({ notAllowed }: { readonly notAllowed: string | undefined }) {
  const verify = useChange<components["schemas"]["AuditVerification"]>({
    call: () => fetchClient.GET("/api/v1/audit/verify"),
    rereads: [],
    notice: "The log could not be checked",
  });
  const found = verify.result;
  return (
    <div role="status" style={{ display: "flex", flexWrap: "wrap", gap: 10, alignItems: "center", marginBottom: 12 }}>
      <Button busy={verify.busy} disabledReason={notAllowed} onClick={() => verify.run()}>
        Check that it is whole
      </Button>
      {found?.state === "whole" && (
        <>
          <StateChip state="ok">whole</StateChip>
          <span>
            rows {found.from_seq} to {found.through_seq}, {found.row_count} checked; head{" "}
            <Mono>{found.head.slice(0, 16)}…</Mono>
          </span>
          <CopyButton text={found.head} what="head of the log" />
        </>
      )}
      {found?.state === "broken" && (
        <>
          <StateChip state="critical">broken at row {found.seq}</StateChip>
          <span>{found.reason}</span>
        </>
      )}
    </div>
  );
}

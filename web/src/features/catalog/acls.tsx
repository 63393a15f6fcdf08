import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Acl, aclsQuery } from "~/api/catalog";
import { PagedTable } from "~/components/answer-table";
import { AsCommand } from "~/components/as-command";
import { useAnswer } from "~/components/use-answer";
import { useTyped } from "~/components/use-typed";
import { countWords } from "~/lib/count";
import { Button } from "~/ui/button";
import { CopyButton } from "~/ui/copy-button";
import type { TableColumn } from "~/ui/data-table-types";
import { PrefixedField } from "~/ui/fields";
import { KeyValue } from "~/ui/key-value";
import { EmptyState, FilteredEmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { SearchInput } from "~/ui/search-input";
import { Segmented } from "~/ui/segmented";
import { SidePanel, WithSidePanel } from "~/ui/side-panel";
import { Stat, StatRow } from "~/ui/stat";
import { Mono } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { aclCounts, aclId } from "./acl-counts";
import styles from "./catalog.module.css";

const LIMIT = 1000;
const OPERATIONS = ["any", "all", "read", "write", "create", "drop", "alter", "describe"] as const;

export interface AclsView {
  readonly search: string;
  readonly resource: string;
  readonly operation: string;
  readonly principal: string;
  readonly host: string;
  readonly offset: number;
  readonly open: string | undefined;
}

export interface AclsProps {
  readonly cluster: string;
  readonly view: AclsView;
  readonly onChange: (change: Partial<AclsView>) => void;
}

const COLUMNS: readonly TableColumn<Acl>[] = [
  {
    id: "principal",
    header: "Principal",
    width: 230,
    cell: (row) => <VisibleText text={`${row.principal_type}:${row.principal_name}`} />,
  },
  {
    id: "resource",
    header: "Resource",
    width: 280,
    grow: true,
    cell: (row) => (
      <>
        {row.resource_type.toLowerCase()}{" "}
        <Mono>
          <VisibleText text={row.resource_name} />
        </Mono>
      </>
    ),
  },
  { id: "operation", header: "Operation", width: 130, cell: (row) => row.operation.toLowerCase() },
  {
    id: "host",
    header: "From host",
    width: 170,
    cell: (row) => (
      <Mono>
        <VisibleText text={row.host} />
      </Mono>
    ),
  },
];

/** The access-control entries of a cluster. */
export function Acls({ cluster, view, onChange }: AclsProps) {
  const { search, resource, operation, principal, host, offset, open } = view;
  const options = aclsQuery(cluster, { search, resource, operation, principal, host, offset, limit: LIMIT });
  const query = useQuery({ ...options, placeholderData: (before) => before });
  const answer = useAnswer(query, options.queryKey, { what: "its access-control entries", cluster });
  const [typed, setTyped] = useTyped(search, (text) => onChange({ search: text, offset: 0 }));
  const rows = answer.data?.items ?? [];
  const counts = answer.data && aclCounts(rows);
  const filtered = [search, resource, operation, principal, host].some((part) => part !== "");
  const opened = rows.find((row) => aclId(row) === open);
  const whole = answer.data !== undefined && answer.data.matched_count <= LIMIT && offset === 0;
  const clear = { search: "", resource: "", operation: "", principal: "", host: "", offset: 0 };
  return (
    <>
      <PageTitle
        sub={answer.age}
        actions={
          <Button icon="refresh" busy={query.isFetching} onClick={() => void query.refetch()}>
            Read again
          </Button>
        }
      >
        {answer.envelope?.status === "security_disabled"
          ? `Security is off on ${cluster}`
          : answer.data === undefined
            ? `Access control of ${cluster}`
            : countWords(answer.data.matched_count, "access-control entry", "access-control entries") +
              (filtered ? ` that match` : "")}
      </PageTitle>
      {counts && (
        <>
          <StatRow>
            <Stat label="Entries" value={answer.data?.matched_count} of={whole ? "" : `${rows.length} listed`} />
            <Stat label="Principals" value={counts.principals} of={whole ? "" : "of those listed"} />
            <Stat label="Resources" value={counts.resources} of={whole ? "" : "of those listed"} />
            <Stat label="Allow every operation" value={counts.allOperations} of={whole ? "" : "of those listed"} />
          </StatRow>
          <div style={{ height: "var(--gap)" }} />
        </>
      )}
      <WithSidePanel panel={opened && <AclSheet acl={opened} onClose={() => onChange({ open: undefined })} />}>
        <Panel flush>
          <div className={styles.tools}>
            <Segmented
              label="Operation"
              size="small"
              value={OPERATIONS.find((each) => each === operation) ?? "any"}
              onChange={(value) => onChange({ operation: value === "any" ? "" : value, offset: 0 })}
              options={OPERATIONS.map((value) => ({ value, label: value === "any" ? "any operation" : value }))}
            />
            <Filters key={JSON.stringify([resource, principal, host])} view={view} onChange={onChange} />
            {filtered && (
              <Button look="quiet" onClick={() => onChange(clear)}>
                Clear filter
              </Button>
            )}
          </div>
          {answer.notes}
          <PagedTable
            label="Access-control entries"
            layoutKey="acls"
            columns={COLUMNS}
            rows={rows}
            rowId={aclId}
            onOpen={(row) => onChange({ open: aclId(row) })}
            openId={open}
            answer={answer}
            toolbar={<SearchInput label="Search entries" value={typed} onChange={setTyped} slash />}
            page={{ offset, limit: LIMIT, onOffset: (to) => onChange({ offset: to }) }}
            empty={
              filtered || offset > 0 ? (
                <FilteredEmptyState title="No entry matches" onClear={() => onChange(clear)} />
              ) : (
                <EmptyState title="No access-control entry">
                  Security is on, and nobody but super users is allowed anything. Entries are made with a Fluss client.
                </EmptyState>
              )
            }
          />
        </Panel>
      </WithSidePanel>
      <AsCommand
        cli={[
          "acls",
          "--cluster",
          cluster,
          ...resourceWords(resource),
          ...(principal === "" ? [] : ["--principal", principal]),
          ...(operation === "" ? [] : ["--operation", operation]),
          ...(host === "" ? [] : ["--host", host]),
          ...(search === "" ? [] : ["--search", search]),
        ]}
        path={`clusters/${cluster}/operations/acls`}
        query={{
          resource: resource || undefined,
          principal: principal || undefined,
          operation: operation || undefined,
          host: host || undefined,
          search: search || undefined,
          offset: offset || undefined,
          limit: LIMIT,
        }}
      />
    </>
  );
}

/** "table:shop.orders" as the options of the command line. */
function resourceWords(resource: string): string[] {
  if (resource === "") return [];
  const at = resource.indexOf(":");
  if (at === -1) return ["--resource-type", resource];
  return ["--resource-type", resource.slice(0, at), "--resource-name", resource.slice(at + 1)];
}

function Filters({ view, onChange }: Pick<AclsProps, "view" | "onChange">) {
  const [resource, setResource] = useState(view.resource);
  const [principal, setPrincipal] = useState(view.principal);
  const [host, setHost] = useState(view.host);
  return (
    <form
      style={{ display: "contents" }}
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ resource: resource.trim(), principal: principal.trim(), host: host.trim(), offset: 0 });
      }}
    >
      <PrefixedField
        label="resource"
        mono
        width={150}
        placeholder="table:shop.orders"
        value={resource}
        onChange={setResource}
      />
      <PrefixedField
        label="principal"
        mono
        width={110}
        placeholder="User:ann"
        value={principal}
        onChange={setPrincipal}
      />
      <PrefixedField label="host" mono width={90} placeholder="*" value={host} onChange={setHost} />
      <Button type="submit">Filter</Button>
    </form>
  );
}

function AclSheet({ acl, onClose }: { readonly acl: Acl; readonly onClose: () => void }) {
  return (
    <SidePanel
      title={<VisibleText text={`${acl.principal_type}:${acl.principal_name}`} />}
      onClose={onClose}
      focusKey={aclId(acl)}
      tools={<CopyButton text={() => JSON.stringify(acl, undefined, 2)} what="entry as JSON" />}
    >
      <KeyValue
        items={[
          ["permission", acl.permission],
          ["principal", <VisibleText key="v" text={`${acl.principal_type}:${acl.principal_name}`} />],
          ["resource", <VisibleText key="v" text={`${acl.resource_type} ${acl.resource_name}`} />],
          ["operation", acl.operation],
          ["from host", <VisibleText key="v" text={acl.host} />],
        ]}
      />
    </SidePanel>
  );
}

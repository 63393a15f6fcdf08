import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { MOST, ownTokensQuery, type Token, tokensQuery } from "~/api/access";
import { fetchClient } from "~/api/client";
import { AsCommand } from "~/components/as-command";
import { FailureView } from "~/components/failure-view";
import { countWords } from "~/lib/count";
import { reasonNotAllowed } from "~/lib/grants";
import { scopeWords } from "~/lib/scope-text";
import { Button } from "~/ui/button";
import { DataTable } from "~/ui/data-table";
import { EmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { Segmented } from "~/ui/segmented";
import { StateChip } from "~/ui/state-chip";
import { Mono, RelativeTime, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { RevokeToken } from "./revoke-token";
import { TokenDialog } from "./token-dialog";

export type WhoseTokens = "own" | "all";

interface TokensProps {
  /** Who is signed in. */
  readonly person: string;
  readonly grants: readonly string[];
  readonly whose: WhoseTokens;
  readonly onWhose: (whose: WhoseTokens) => void;
}

/** Access tokens, for programs. What a token is, is shown once when it is made. */
export function Tokens({ person, grants, whose, onWhose }: TokensProps) {
  const own = useQuery({ ...ownTokensQuery, enabled: whose === "own" });
  const all = useQuery({ ...tokensQuery, enabled: whose === "all" });
  const query = whose === "own" ? own : all;
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token>();
  const rows = query.data?.items ?? [];
  const notAllowed = whose === "own" ? undefined : reasonNotAllowed(grants, "pegel.tokens.write");
  const mayNotSeeAll = reasonNotAllowed(grants, "pegel.tokens.read");
  return (
    <>
      <PageTitle
        actions={
          <Button icon="plus" look="primary" onClick={() => setCreating(true)}>
            Create a token
          </Button>
        }
      >
        {query.data === undefined ? "Access tokens" : countWords(rows.length, "access token")}
      </PageTitle>
      {creating && <TokenDialog person={person} grants={grants} onClose={() => setCreating(false)} />}
      {revoking && (
        <RevokeToken
          token={revoking}
          path={whose === "own" ? `account/tokens/${revoking.id}` : `tokens/${revoking.id}`}
          person={whose === "own" ? person : undefined}
          call={() => {
            const path = { params: { path: { id: revoking.id } } };
            return whose === "own"
              ? fetchClient.DELETE("/api/v1/account/tokens/{id}", path)
              : fetchClient.DELETE("/api/v1/tokens/{id}", path);
          }}
          onClose={() => setRevoking(undefined)}
        />
      )}
      <Panel flush>
        <DataTable
          label="Access tokens"
          layoutKey="tokens"
          rows={rows}
          rowId={(row) => row.id}
          copyOf={(row) => JSON.stringify(row, undefined, 2)}
          pageKeys
          isDead={(row) => tokenState(row).dead}
          loading={query.isPending}
          skeletonRows={3}
          refreshing={query.isRefetching}
          toolbar={
            <Segmented
              label="Whose tokens"
              size="small"
              value={whose}
              onChange={onWhose}
              options={[
                { value: "own", label: "mine" },
                { value: "all", label: "of all users", ...(mayNotSeeAll ? { disabledReason: mayNotSeeAll } : {}) },
              ]}
            />
          }
          columns={[
            { id: "name", header: "Token", width: 190, grow: true, cell: (row) => <VisibleText text={row.name} /> },
            {
              id: "state",
              header: "State",
              width: 110,
              cell: (row) => {
                const look = tokenState(row);
                return <StateChip state={look.dead ? "paused" : "ok"}>{look.words}</StateChip>;
              },
            },
            { id: "role", header: "Role", width: 80, cell: (row) => row.role },
            { id: "scope", header: "Clusters", width: 160, cell: (row) => scopeWords(row.scope) },
            {
              id: "grants",
              header: "Grants",
              width: 220,
              cell: (row) => <Mono title={row.grants.join("\n")}>{row.grants.join(", ") || "none"}</Mono>,
            },
            {
              id: "used",
              header: "Last used",
              width: 110,
              align: "end",
              cell: (row) => (row.last_used_at ? <RelativeTime at={row.last_used_at} /> : <Unknown>never</Unknown>),
            },
            {
              id: "ends",
              header: "Ends",
              width: 100,
              align: "end",
              cell: (row) => (row.expires_at ? <RelativeTime at={row.expires_at} /> : <Unknown>never</Unknown>),
            },
            {
              id: "revoke",
              header: "Actions",
              width: 100,
              cell: (row) => (
                <Button
                  size="small"
                  look="quiet"
                  disabledReason={row.revoked_at ? "It is revoked already" : notAllowed}
                  onClick={() => setRevoking(row)}
                >
                  Revoke
                </Button>
              ),
            },
          ]}
          instead={
            query.isError && query.data === undefined ? (
              <FailureView error={query.error} onRetry={() => void query.refetch()} retrying={query.isFetching} />
            ) : query.data && rows.length === 0 ? (
              <EmptyState title="No token yet">A token lets a program or the command line act in your name.</EmptyState>
            ) : undefined
          }
        />
      </Panel>
      <AsCommand path={whose === "own" ? "account/tokens" : "tokens"} query={{ limit: MOST }} />
    </>
  );
}

function tokenState(token: Token): { readonly words: string; readonly dead: boolean } {
  if (token.revoked_at) return { words: "revoked", dead: true };
  if (token.expires_at && Date.parse(token.expires_at) < Date.now()) return { words: "ended", dead: true };
  return { words: "in force", dead: false };
}

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { MOST, type User, userSessionsQuery, usersQuery } from "~/api/access";
import { fetchClient } from "~/api/client";
import { AsCommand } from "~/components/as-command";
import { FailureView } from "~/components/failure-view";
import { useTyped } from "~/components/use-typed";
import { countWords } from "~/lib/count";
import { reasonNotAllowed } from "~/lib/grants";
import { matchScore } from "~/lib/match";
import { scopeWords } from "~/lib/scope-text";
import { Age } from "~/ui/age";
import { Button } from "~/ui/button";
import { CopyButton } from "~/ui/copy-button";
import { DataTable } from "~/ui/data-table";
import type { TableColumn } from "~/ui/data-table-types";
import { KeyValue } from "~/ui/key-value";
import { EmptyState, FilteredEmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { SearchInput } from "~/ui/search-input";
import { SidePanel, WithSidePanel } from "~/ui/side-panel";
import { StateChip } from "~/ui/state-chip";
import { RelativeTime, Time, Unknown } from "~/ui/values";
import { VisibleText } from "~/ui/visible-text";
import { GrantList } from "./grant-list";
import { SessionsList } from "./sessions-list";
import { ShownOnce } from "./shown-once";
import { useChange } from "./use-change";
import { UserDialog } from "./user-dialog";

const COLUMNS: readonly TableColumn<User>[] = [
  {
    id: "name",
    header: "User",
    width: 180,
    cell: (row) => <VisibleText text={row.name} />,
    sortValue: (row) => row.name,
  },
  { id: "display", header: "Name", width: 200, grow: true, cell: (row) => <DisplayName user={row} /> },
  { id: "role", header: "Role", width: 90, cell: (row) => row.role, sortValue: (row) => row.role },
  { id: "state", header: "State", width: 180, cell: (row) => <UserState user={row} /> },
  {
    id: "scope",
    header: "Clusters",
    width: 190,
    cell: (row) => <span title={scopeWords(row.scope)}>{scopeWords(row.scope)}</span>,
  },
  {
    id: "changed",
    header: "Changed",
    width: 110,
    align: "end",
    cell: (row) => <RelativeTime at={row.updated_at} />,
    sortValue: (row) => row.updated_at,
  },
];

function DisplayName({ user }: { readonly user: User }) {
  return user.display_name === "" ? <Unknown>none</Unknown> : <VisibleText text={user.display_name} />;
}

function UserState({ user }: { readonly user: User }) {
  if (user.disabled_at) return <StateChip state="paused">disabled</StateChip>;
  if (user.must_change_password) return <StateChip state="held">first password</StateChip>;
  return <StateChip state="ok">may sign in</StateChip>;
}

export interface UsersProps {
  readonly grants: readonly string[];
  readonly ownId: string;
  readonly search: string;
  readonly open: string | undefined;
  readonly hrefOf: (id: string) => string;
  readonly onChange: (change: { search?: string; open?: string | undefined }) => void;
}

/** Who may use Pegel, and for what. */
export function Users({ grants, ownId, search, open, hrefOf, onChange }: UsersProps) {
  const users = useQuery(usersQuery);
  const [creating, setCreating] = useState(false);
  const [typed, setTyped] = useTyped(search, (text) => onChange({ search: text }));
  const notAllowed = reasonNotAllowed(grants, "pegel.users.write");
  const all = users.data?.items ?? [];
  const rows = all.filter((user) => matchScore(`${user.name} ${user.display_name} ${user.role}`, search) !== undefined);
  const opened = all.find((user) => user.id === open);
  return (
    <>
      <PageTitle
        sub={
          users.data && (
            <Age
              at={new Date(users.dataUpdatedAt).toISOString()}
              intervalMs={60_000}
              failure={users.isRefetchError ? "no answer" : undefined}
            />
          )
        }
        actions={
          <Button icon="plus" look="primary" disabledReason={notAllowed} onClick={() => setCreating(true)}>
            Create a user
          </Button>
        }
      >
        {users.data === undefined ? "Users" : `${users.data.next_cursor ? "≥ " : ""}${countWords(all.length, "user")}`}
      </PageTitle>
      {creating && <UserDialog onClose={() => setCreating(false)} />}
      <WithSidePanel
        panel={
          opened && (
            <UserSheet
              key={opened.id}
              user={opened}
              isOneself={opened.id === ownId}
              notAllowed={notAllowed}
              onClose={() => onChange({ open: undefined })}
            />
          )
        }
      >
        <Panel flush>
          <DataTable
            label="Users"
            layoutKey="users"
            columns={COLUMNS}
            rows={rows}
            rowId={(row) => row.id}
            hrefOf={(row) => hrefOf(row.id)}
            onOpen={(row) => onChange({ open: row.id })}
            openId={open}
            copyOf={(row) => JSON.stringify(row, undefined, 2)}
            isDead={(row) => Boolean(row.disabled_at)}
            pageKeys
            loading={users.isPending}
            refreshing={users.isRefetching}
            toolbar={<SearchInput label="Search users" value={typed} onChange={setTyped} slash />}
            foot={users.data?.next_cursor ? <span>the first {MOST} are listed</span> : undefined}
            instead={
              users.isError && users.data === undefined ? (
                <FailureView error={users.error} onRetry={() => void users.refetch()} retrying={users.isFetching} />
              ) : users.data === undefined || rows.length > 0 ? undefined : search !== "" ? (
                <FilteredEmptyState
                  title={`No user matches “${search}”`}
                  total={countWords(all.length, "user")}
                  onClear={() => onChange({ search: "" })}
                />
              ) : (
                <EmptyState title="No user within your scope" />
              )
            }
          />
        </Panel>
      </WithSidePanel>
      <AsCommand path="users" query={{ limit: MOST }} />
    </>
  );
}

interface UserSheetProps {
  readonly user: User;
  readonly isOneself: boolean;
  readonly notAllowed: string | undefined;
  readonly onClose: () => void;
}

function UserSheet({ user, isOneself, notAllowed, onClose }: UserSheetProps) {
  const [editing, setEditing] = useState(false);
  const [shown, setShown] = useState<string>();
  const path = { params: { path: { id: user.id } } };
  const sessions = useQuery(userSessionsQuery(user.id));
  const reset = useChange({
    call: () => fetchClient.POST("/api/v1/users/{id}/password-reset", path),
    rereads: ["/api/v1/users"],
    notice: "The password was not reset",
    onDone: (result) => setShown(result?.password),
  });
  const toggle = useChange({
    call: () =>
      fetchClient.PUT("/api/v1/users/{id}", {
        ...path,
        body: {
          display_name: user.display_name,
          role: user.role,
          grants: user.has_default_grants ? null : user.grants,
          scope: user.scope,
          version: user.version,
          is_disabled: !user.disabled_at,
        },
      }),
    rereads: ["/api/v1/users"],
    notice: "The user was not changed",
  });
  const end = useChange({
    call: (session: string) =>
      fetchClient.DELETE("/api/v1/users/{id}/sessions/{session_id}", {
        params: { path: { id: user.id, session_id: session } },
      }),
    rereads: ["/api/v1/users"],
    notice: "The session was not ended",
  });
  const self = isOneself ? "Not to oneself: ask another administrator" : undefined;
  return (
    <SidePanel
      title={<VisibleText text={user.name} />}
      onClose={onClose}
      focusKey={user.id}
      tools={<CopyButton text={() => JSON.stringify(user, undefined, 2)} what="user as JSON" />}
      foot={
        <>
          <Button size="small" disabledReason={notAllowed} onClick={() => setEditing(true)}>
            Change
          </Button>
          <Button size="small" busy={reset.busy} disabledReason={notAllowed} onClick={() => reset.run()}>
            Reset password
          </Button>
          <Button
            size="small"
            look={user.disabled_at ? "default" : "danger"}
            busy={toggle.busy}
            disabledReason={notAllowed ?? (user.disabled_at ? undefined : self)}
            onClick={() => toggle.run()}
          >
            {user.disabled_at ? "Enable" : "Disable"}
          </Button>
        </>
      }
    >
      {editing && <UserDialog user={user} onClose={() => setEditing(false)} />}
      {shown !== undefined && (
        <ShownOnce
          title={`New password of ${user.name}`}
          secret={shown}
          what="password"
          onClose={() => setShown(undefined)}
        >
          It is shown only now, and has to be changed when signing in. All sessions of the user have ended.
        </ShownOnce>
      )}
      <KeyValue
        items={[
          ["name", <DisplayName key="v" user={user} />],
          ["state", <UserState key="v" user={user} />],
          ["role", user.role],
          ["clusters", scopeWords(user.scope)],
          [
            "grants",
            <span key="v">
              {user.has_default_grants ? "those of the role: " : ""}
              <GrantList grants={user.grants} />
            </span>,
          ],
          ["made", <Time key="v" at={user.created_at} precision="second" />],
          ["changed", <Time key="v" at={user.updated_at} precision="second" />],
        ]}
      />
      <h3 style={{ margin: "14px 0 6px", fontSize: 13 }}>Signed in</h3>
      <SessionsList query={sessions} notAllowed={notAllowed} onEnd={end.run} />
    </SidePanel>
  );
}

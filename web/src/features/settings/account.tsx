import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ownSessionsQuery } from "~/api/access";
import { fetchClient } from "~/api/client";
import type { Session } from "~/api/session";
import { AsCommand } from "~/components/as-command";
import { scopeWords } from "~/lib/scope-text";
import { Button } from "~/ui/button";
import { KeyValue } from "~/ui/key-value";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { VisibleText } from "~/ui/visible-text";
import { GrantList } from "./grant-list";
import { SessionsList } from "./sessions-list";
import { useChange } from "./use-change";

/** One's own rights and sessions. */
export function Account({ session }: { readonly session: Session }) {
  const sessions = useQuery(ownSessionsQuery);
  const rereads = ["/api/v1/account/sessions"];
  const end = useChange({
    call: (id: string) => fetchClient.DELETE("/api/v1/account/sessions/{id}", { params: { path: { id } } }),
    rereads,
    notice: "The session was not ended",
  });
  const endOthers = useChange({
    call: () => fetchClient.DELETE("/api/v1/account/sessions"),
    rereads,
    notice: "The sessions were not ended",
  });
  const others = (sessions.data?.items ?? []).filter((each) => !each.is_current).length;
  return (
    <>
      <PageTitle actions={<Link to="/account/password">Change password</Link>}>
        You are signed in as <VisibleText text={session.name} />
      </PageTitle>
      <div style={{ display: "grid", gap: "var(--gap)", gridTemplateColumns: "minmax(0, 1fr)" }}>
        <Panel title="What you may do">
          <KeyValue
            items={[
              ["role", session.role],
              ["clusters", scopeWords(session.scope)],
              ["grants", <GrantList key="v" grants={session.grants} />],
            ]}
          />
        </Panel>
        <Panel
          flush
          title="Where you are signed in"
          side={
            <Button
              size="small"
              busy={endOthers.busy}
              disabledReason={others === 0 ? "There is no other session" : undefined}
              onClick={() => endOthers.run()}
            >
              End all others
            </Button>
          }
        >
          <SessionsList query={sessions} notAllowed={undefined} onEnd={end.run} />
        </Panel>
        <AsCommand path="account/sessions" person={session.name} />
      </div>
    </>
  );
}

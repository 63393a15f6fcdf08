import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { clustersQuery } from "~/api/clusters";
import type { Session } from "~/api/session";
import { reasonNotAllowed } from "~/lib/grants";
import { Button } from "~/ui/button";
import { FrontPage, Steps } from "~/ui/front-page";
import { ClusterForm } from "./cluster-form";

interface FirstRunProps {
  readonly session: Session;
  /** The form that changes the password, of another feature. */
  readonly passwordForm: ReactNode;
  readonly onDone: () => void;
}

/** From the first sign-in to the first cluster. */
export function FirstRun({ session, passwordForm, onDone }: FirstRunProps) {
  const needsPassword = session.must_change_password;
  const { data } = useQuery({ ...clustersQuery, enabled: !needsPassword, refetchInterval: 5_000 });
  const hasCluster = (data?.items.length ?? 0) > 0;
  return (
    <FrontPage wide title="Two steps to the first look" lead={`Signed in as ${session.name}, ${session.role}.`}>
      <Steps
        label="First steps"
        steps={[
          {
            id: "password",
            title: needsPassword ? "Choose a password of your own" : "Password chosen",
            state: needsPassword ? "now" : "done",
            ...(needsPassword ? { body: passwordForm } : {}),
          },
          {
            id: "cluster",
            title: hasCluster ? "Cluster registered" : "Register a cluster",
            state: needsPassword ? "later" : hasCluster ? "done" : "now",
            ...(needsPassword || hasCluster ? {} : { body: <FirstCluster session={session} onLater={onDone} /> }),
          },
        ]}
      />
      {hasCluster && (
        <Button look="primary" onClick={onDone}>
          Open the overview
        </Button>
      )}
    </FrontPage>
  );
}

interface FirstClusterProps {
  readonly session: Session;
  readonly onLater: () => void;
}

function FirstCluster({ session, onLater }: FirstClusterProps) {
  return (
    <>
      <p>
        Name two servers of the cluster, coordinator or tablet servers. The connection is tested step by step before it
        is saved. If it is registered elsewhere, by command or by a colleague, this page notices.
      </p>
      <ClusterForm
        notAllowed={reasonNotAllowed(session.grants, "pegel.clusters.write")}
        onDone={() => undefined}
        onCancel={onLater}
        cancelWords="Later; open the overview"
      />
    </>
  );
}

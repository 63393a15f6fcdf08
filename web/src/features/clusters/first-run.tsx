import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { clustersQuery } from "~/api/clusters";
import type { Session } from "~/api/session";
import { commandLine, curlLine } from "~/lib/shell";
import { Button } from "~/ui/button";
import { CommandLine } from "~/ui/command-line";
import { FrontPage, Steps } from "~/ui/front-page";

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
            ...(needsPassword || hasCluster ? {} : { body: <RegisterByCommand /> }),
          },
        ]}
      />
      {!needsPassword && (
        <Button look={hasCluster ? "primary" : "default"} onClick={onDone}>
          {hasCluster ? "Open the overview" : "Later; open the overview"}
        </Button>
      )}
    </FrontPage>
  );
}

function RegisterByCommand() {
  const endpoint = "fluss-1.example:9123,fluss-2.example:9123";
  const url = new URL("api/v1/clusters", document.baseURI).href;
  return (
    <>
      <p>
        Name two servers of the cluster, coordinator or tablet servers. The connection is tested step by step before it
        is saved; this page notices when it is there.
      </p>
      <CommandLine
        cli={commandLine([
          "pegel",
          "cluster",
          "add",
          "orders-eu",
          "--environment",
          "production",
          "--bootstrap",
          endpoint,
        ])}
        curl={curlLine({
          method: "POST",
          url,
          body: { slug: "orders-eu", name: "orders-eu", environment: "production", connection: { endpoint } },
        })}
      />
    </>
  );
}

import { reasonNotAllowed } from "~/lib/grants";
import { PageTitle } from "~/ui/page-title";
import { ClusterForm } from "./cluster-form";

interface RegisterProps {
  readonly grants: readonly string[];
  readonly onDone: (slug: string) => void;
  readonly onCancel: () => void;
}

export function RegisterCluster({ grants, onDone, onCancel }: RegisterProps) {
  return (
    <>
      <PageTitle sub="Its connection is tested before it is saved">Register a cluster</PageTitle>
      <ClusterForm
        notAllowed={reasonNotAllowed(grants, "pegel.clusters.write")}
        onDone={(cluster) => onDone(cluster.slug)}
        onCancel={onCancel}
      />
    </>
  );
}

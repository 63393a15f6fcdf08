import type { Cluster } from "~/api/clusters";
import type { components } from "~/api/schema";
import { AsCommand } from "~/components/as-command";
import { shellVariable } from "~/lib/shell";
import { bodyOf, type ConnectionDraft, connectionWords, secretsOf } from "./connection-form";

type Schemas = components["schemas"];

interface FormCommandProps {
  readonly draft: ConnectionDraft;
  /** The cluster that is changed; left out for a new one. */
  readonly cluster: Cluster | undefined;
  readonly common: Omit<Schemas["RegisterCluster"], "connection">;
}

const EXAMPLE = { slug: "orders-eu", endpoint: "fluss-1.example:9123,fluss-2.example:9123" };

/** The form as a line for a terminal. What is not filled in yet is an example's. */
export function FormCommand({ draft: typed, cluster, common }: FormCommandProps) {
  const slug = common.slug || EXAMPLE.slug;
  const draft = { ...typed, endpoint: typed.endpoint.trim() || EXAMPLE.endpoint };
  const secrets = secretsOf(draft);
  const connection = {
    ...bodyOf(draft),
    ...Object.fromEntries(secrets.map(({ field, variable }) => [field, shellVariable(variable)])),
  };
  const { slug: _, ...shared } = { ...common, name: common.name || slug };
  const options = [
    ...(shared.name === slug && cluster === undefined ? [] : ["--display-name", shared.name]),
    "--environment",
    shared.environment,
    ...(cluster === undefined ? (shared.read_only ? ["--read-only"] : []) : [`--read-only=${shared.read_only}`]),
    ...(shared.save_despite_failure ? ["--save-anyway"] : []),
  ];
  const words = connectionWords(draft, cluster === undefined);
  const isExample = common.slug === "" || typed.endpoint.trim() === "";
  return (
    <div>
      {isExample && <p>An example until the form is filled in:</p>}
      <AsCommand
        cli={words && ["cluster", cluster === undefined ? "add" : "edit", slug, ...options, ...words]}
        method={cluster === undefined ? "POST" : "PUT"}
        path={cluster === undefined ? "clusters" : `clusters/${slug}`}
        body={
          cluster === undefined ? { ...shared, connection, slug } : { ...shared, connection, version: cluster.version }
        }
        variables={secrets.map(({ variable }) => variable)}
      />
    </div>
  );
}

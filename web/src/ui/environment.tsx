import type { Environment } from "~/lib/environment";
import styles from "./environment.module.css";

/** The 3 px bar on top of each page and dialog of a cluster; a test cluster has none. The tag says it in words. */
export function EnvironmentBar({ environment }: { readonly environment: Environment | undefined }) {
  return <div className={styles.bar} data-environment={environment} aria-hidden="true" />;
}

export function EnvironmentTag({
  environment,
  onRail,
}: {
  readonly environment: Environment;
  readonly onRail?: boolean;
}) {
  return (
    <span className={styles.tag} data-environment={environment} data-on-rail={onRail ? "" : undefined}>
      {environment}
    </span>
  );
}

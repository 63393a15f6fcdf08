import { stringifySearch } from "~/lib/search-state";
import { commandLine, curlLine } from "~/lib/shell";
import { CommandLine } from "~/ui/command-line";

interface AsCommandProps {
  /** The words after `pegel`; those that are undefined are left out. */
  readonly cli: readonly (string | undefined)[];
  /** The path below /api/v1/. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly method?: "GET" | "POST";
}

/** What the page shows as a line for a terminal. */
export function AsCommand({ cli, path, query = {}, method = "GET" }: AsCommandProps) {
  const words = cli.filter((word) => word !== undefined);
  return (
    <div style={{ marginTop: "var(--gap)" }}>
      <CommandLine
        cli={commandLine(["pegel", ...words])}
        curl={curlLine({ method, url: new URL(`api/v1/${path}${stringifySearch(query)}`, document.baseURI).href })}
      />
    </div>
  );
}

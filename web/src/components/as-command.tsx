import { stringifySearch } from "~/lib/search-state";
import { commandLine, curlLine, type HttpRequest, PASSWORD_VARIABLE } from "~/lib/shell";
import { CommandLine } from "~/ui/command-line";

interface AsCommandProps {
  /** The words after `pegel`; those that are undefined are left out. Without any, no command does it. */
  readonly cli?: readonly (string | undefined)[] | undefined;
  /** The path below /api/v1/. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly method?: HttpRequest["method"];
  readonly body?: unknown;
  /** Variables of the shell that hold secrets of the line. */
  readonly variables?: readonly string[];
  /** Who asks, where an access token is not enough. */
  readonly person?: string | undefined;
}

/** What the page shows or would do, as a line for a terminal. */
export function AsCommand({ cli, path, query = {}, method = "GET", body, variables = [], person }: AsCommandProps) {
  const url = new URL(`api/v1/${path}${stringifySearch(query)}`, document.baseURI).href;
  return (
    <div style={{ marginTop: "var(--gap)" }}>
      <CommandLine
        cli={cli && commandLine(["pegel", ...cli.filter((word) => word !== undefined)])}
        curl={curlLine({ method, url, body, person })}
        variables={variables}
        token={person === undefined ? "PEGEL_TOKEN" : PASSWORD_VARIABLE}
      />
    </div>
  );
}

import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { TABLE_TABS, TablePage, type TableView } from "~/features/catalog/table-page";
import { offsetOf, orNothing } from "./search";

const route = getRouteApi("/app/clusters/$cluster/table");

export function TableRoutePage() {
  const { cluster } = route.useParams();
  const { database = "", table = "", tab, at, spec, q = "", offset } = route.useSearch();
  const navigate = useNavigate();
  const view: TableView = {
    tab: TABLE_TABS.find((known) => known === tab) ?? "columns",
    at,
    spec,
    search: q,
    offset: offsetOf(offset),
  };
  return (
    <TablePage
      key={JSON.stringify([cluster, database, table])}
      cluster={cluster}
      database={database}
      table={table}
      view={view}
      onChange={(change) => {
        const next = { ...view, ...change };
        void navigate({
          to: "/clusters/$cluster/table",
          params: { cluster },
          search: {
            database,
            table,
            tab: orNothing<string>(next.tab, "columns"),
            at: next.at,
            spec: next.spec,
            q: orNothing(next.search, ""),
            offset: orNothing(next.offset, 0),
          },
          replace: change.search !== undefined,
          resetScroll: false,
        });
      }}
    />
  );
}

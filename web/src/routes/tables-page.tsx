import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Tables } from "~/features/catalog/tables";
import { offsetOf, orNothing } from "./search";

const route = getRouteApi("/app/clusters/$cluster/tables");

export function TablesPage() {
  const { cluster } = route.useParams();
  const { database = "", q = "", offset, limit } = route.useSearch();
  const navigate = useNavigate();
  const view = { search: q, offset: offsetOf(offset), limit: limit === "1000" ? (1000 as const) : (100 as const) };
  return (
    <Tables
      key={`${cluster}\n${database}`}
      cluster={cluster}
      database={database}
      {...view}
      onChange={(change) => {
        const next = { ...view, ...change };
        void navigate({
          to: "/clusters/$cluster/tables",
          params: { cluster },
          search: {
            database: orNothing(database, ""),
            q: orNothing(next.search, ""),
            offset: orNothing(next.offset, 0),
            limit: orNothing(next.limit, 100),
          },
          replace: change.search !== undefined,
          resetScroll: false,
        });
      }}
    />
  );
}

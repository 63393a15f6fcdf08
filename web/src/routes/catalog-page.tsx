import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Databases } from "~/features/catalog/databases";
import { offsetOf, orNothing } from "./search";

const route = getRouteApi("/app/clusters/$cluster/catalog");

export function CatalogPage() {
  const { cluster } = route.useParams();
  const { q = "", offset, open } = route.useSearch();
  const navigate = useNavigate();
  const view = { search: q, offset: offsetOf(offset), open };
  return (
    <Databases
      key={cluster}
      cluster={cluster}
      {...view}
      onChange={(change) => {
        const next = { ...view, ...change };
        void navigate({
          to: "/clusters/$cluster/catalog",
          params: { cluster },
          search: { q: orNothing(next.search, ""), offset: orNothing(next.offset, 0), open: next.open },
          replace: change.search !== undefined,
          resetScroll: false,
        });
      }}
    />
  );
}

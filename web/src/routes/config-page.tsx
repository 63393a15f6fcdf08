import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Config } from "~/features/catalog/config";
import { offsetOf, orNothing } from "./search";

const route = getRouteApi("/app/clusters/$cluster/config");

export function ConfigPage() {
  const { cluster } = route.useParams();
  const { q = "", offset } = route.useSearch();
  const navigate = useNavigate();
  const view = { search: q, offset: offsetOf(offset) };
  return (
    <Config
      key={cluster}
      cluster={cluster}
      {...view}
      onChange={(change) => {
        const next = { ...view, ...change };
        void navigate({
          to: "/clusters/$cluster/config",
          params: { cluster },
          search: { q: orNothing(next.search, ""), offset: orNothing(next.offset, 0) },
          replace: change.search !== undefined,
          resetScroll: false,
        });
      }}
    />
  );
}

import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Acls, type AclsView } from "~/features/catalog/acls";
import { offsetOf, orNothing } from "./search";

const route = getRouteApi("/app/clusters/$cluster/acls");

export function AclsPage() {
  const { cluster } = route.useParams();
  const { q = "", resource = "", operation = "", principal = "", host = "", offset, open } = route.useSearch();
  const navigate = useNavigate();
  const view: AclsView = { search: q, resource, operation, principal, host, offset: offsetOf(offset), open };
  return (
    <Acls
      key={cluster}
      cluster={cluster}
      view={view}
      onChange={(change) => {
        const next = { ...view, ...change };
        void navigate({
          to: "/clusters/$cluster/acls",
          params: { cluster },
          search: {
            q: orNothing(next.search, ""),
            resource: orNothing(next.resource, ""),
            operation: orNothing(next.operation, ""),
            principal: orNothing(next.principal, ""),
            host: orNothing(next.host, ""),
            offset: orNothing(next.offset, 0),
            open: next.open,
          },
          replace: change.search !== undefined,
          resetScroll: false,
        });
      }}
    />
  );
}

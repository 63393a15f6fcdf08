import { getRouteApi, useNavigate, useRouter } from "@tanstack/react-router";
import { Servers } from "~/features/catalog/servers";
import { orNothing } from "./search";

const route = getRouteApi("/app/clusters/$cluster");

export function ClusterPage() {
  const { cluster } = route.useParams();
  const { q = "", open } = route.useSearch();
  const router = useRouter();
  const navigate = useNavigate();
  return (
    <Servers
      key={cluster}
      cluster={cluster}
      search={q}
      open={open}
      hrefOf={(id) =>
        router.buildLocation({
          to: "/clusters/$cluster",
          params: { cluster },
          search: { q: orNothing(q, ""), open: id },
        }).publicHref
      }
      onSearch={(text) =>
        void navigate({
          to: "/clusters/$cluster",
          params: { cluster },
          search: { q: orNothing(text, ""), open },
          replace: true,
        })
      }
      onOpen={(id) =>
        void navigate({
          to: "/clusters/$cluster",
          params: { cluster },
          search: { q: orNothing(q, ""), open: id },
          resetScroll: false,
        })
      }
    />
  );
}

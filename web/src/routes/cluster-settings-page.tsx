import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Registration } from "~/features/clusters/registration";

const app = getRouteApi("/app");
const route = getRouteApi("/app/clusters/$cluster/settings");

export function ClusterSettingsPage() {
  const { session } = app.useRouteContext();
  const { cluster } = route.useParams();
  const { edit } = route.useSearch();
  const navigate = useNavigate();
  return (
    <Registration
      key={cluster}
      cluster={cluster}
      grants={session.grants}
      editing={edit === "yes"}
      onEdit={(editing) =>
        void navigate({
          to: "/clusters/$cluster/settings",
          params: { cluster },
          search: { edit: editing ? "yes" : undefined },
        })
      }
      onRemoved={() => void navigate({ to: "/" })}
    />
  );
}

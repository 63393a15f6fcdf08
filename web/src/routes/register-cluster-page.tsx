import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { RegisterCluster } from "~/features/clusters/register";

const app = getRouteApi("/app");

export function RegisterClusterPage() {
  const { session } = app.useRouteContext();
  const navigate = useNavigate();
  return (
    <RegisterCluster
      grants={session.grants}
      onDone={(cluster) => void navigate({ to: "/clusters/$cluster", params: { cluster } })}
      onCancel={() => void navigate({ to: "/" })}
    />
  );
}

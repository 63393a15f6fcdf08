import { getRouteApi, useNavigate, useRouter } from "@tanstack/react-router";
import { Overview } from "~/features/clusters/overview";
import { reasonNotAllowed } from "~/lib/grants";

const route = getRouteApi("/app");

export function OverviewPage() {
  const router = useRouter();
  const navigate = useNavigate();
  const { session } = route.useRouteContext();
  return (
    <Overview
      hrefOf={(cluster) => router.buildLocation({ to: "/clusters/$cluster", params: { cluster } }).publicHref}
      onOpen={(cluster) => void navigate({ to: "/clusters/$cluster", params: { cluster } })}
      registerHref={router.buildLocation({ to: "/register-cluster" }).publicHref}
      notAllowed={reasonNotAllowed(session.grants, "pegel.clusters.write")}
    />
  );
}

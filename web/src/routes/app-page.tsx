import { getRouteApi, Outlet } from "@tanstack/react-router";
import { AppShell } from "~/components/app-shell";

const route = getRouteApi("/app");

export function AppPage() {
  const { session } = route.useRouteContext();
  return (
    <AppShell session={session}>
      <Outlet />
    </AppShell>
  );
}

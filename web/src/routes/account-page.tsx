import { getRouteApi } from "@tanstack/react-router";
import { Account } from "~/features/settings/account";

const app = getRouteApi("/app");

export function AccountPage() {
  const { session } = app.useRouteContext();
  return <Account session={session} />;
}

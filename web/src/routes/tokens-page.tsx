import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Tokens } from "~/features/settings/tokens";

const app = getRouteApi("/app");
const route = getRouteApi("/app/tokens");

export function TokensPage() {
  const { session } = app.useRouteContext();
  const { whose } = route.useSearch();
  const navigate = useNavigate();
  return (
    <Tokens
      person={session.name}
      grants={session.grants}
      whose={whose === "all" ? "all" : "own"}
      onWhose={(next) => void navigate({ to: "/tokens", search: { whose: next === "all" ? next : undefined } })}
    />
  );
}

import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { PasswordPage } from "~/features/access/password-page";

const app = getRouteApi("/app");

export function PasswordRoutePage() {
  const { session } = app.useRouteContext();
  const navigate = useNavigate();
  return <PasswordPage person={session.name} onDone={() => void navigate({ to: "/" })} />;
}

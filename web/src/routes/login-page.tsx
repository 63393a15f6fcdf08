import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Login } from "~/features/access/login";

const route = getRouteApi("/login");

export function LoginPage() {
  const { next } = route.useSearch();
  const navigate = useNavigate();
  return (
    <Login
      onDone={(session) => {
        if (session.must_change_password) void navigate({ to: "/first-run", replace: true });
        else void navigate({ href: next ?? "/", replace: true });
      }}
    />
  );
}

import { getRouteApi, useNavigate, useRouter } from "@tanstack/react-router";
import { Audit } from "~/features/settings/audit";

const app = getRouteApi("/app");
const route = getRouteApi("/app/audit");

export function AuditPage() {
  const { session } = app.useRouteContext();
  const search = route.useSearch();
  const router = useRouter();
  const navigate = useNavigate();
  return (
    <Audit
      grants={session.grants}
      view={{ ...search, open: search.open }}
      hrefOf={(open) => router.buildLocation({ to: "/audit", search: { ...search, open } }).publicHref}
      onChange={(change) => void navigate({ to: "/audit", search: { ...search, ...change }, resetScroll: false })}
      onBack={() => router.history.back()}
    />
  );
}

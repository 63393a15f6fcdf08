import { getRouteApi, useNavigate, useRouter } from "@tanstack/react-router";
import { Users } from "~/features/settings/users";
import { orNothing } from "./search";

const app = getRouteApi("/app");
const route = getRouteApi("/app/users");

export function UsersPage() {
  const { session } = app.useRouteContext();
  const { q = "", open } = route.useSearch();
  const router = useRouter();
  const navigate = useNavigate();
  return (
    <Users
      grants={session.grants}
      ownId={session.user_id}
      search={q}
      open={open}
      hrefOf={(id) => router.buildLocation({ to: "/users", search: { q: orNothing(q, ""), open: id } }).publicHref}
      onChange={(change) => {
        const next = { search: q, open, ...change };
        void navigate({
          to: "/users",
          search: { q: orNothing(next.search, ""), open: next.open },
          replace: change.search !== undefined,
          resetScroll: false,
        });
      }}
    />
  );
}

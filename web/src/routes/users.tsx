import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";
import { reads, text } from "./search";

export const usersRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/users",
  validateSearch: reads({ q: text, open: text }),
  staticData: { crumb: () => [{ label: "Settings" }, { label: "Users" }] },
  component: lazyRouteComponent(() => import("./users-page"), "UsersPage"),
});

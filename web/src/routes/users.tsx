import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { appRoute } from "./app";
import { text } from "./search";

export const usersRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/users",
  validateSearch: z.object({ q: text, open: text }),
  staticData: { crumb: () => [{ label: "Settings" }, { label: "Users" }] },
  component: lazyRouteComponent(() => import("./users-page"), "UsersPage"),
});

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { rootRoute } from "./root";
import { reads } from "./search";

export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  // Where to go on; only a path of the console itself, never another site.
  validateSearch: reads({ next: z.catch(z.optional(z.string().check(z.regex(/^\/(?![/\\])/))), undefined) }),
  component: lazyRouteComponent(() => import("./login-page"), "LoginPage"),
});

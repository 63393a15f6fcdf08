import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { isSignInRequired } from "~/api/errors";
import { sessionQuery } from "~/api/session";
import { rootRoute } from "./root";

export const firstRunRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/first-run",
  beforeLoad: async ({ context }) => {
    try {
      await context.queries.ensureQueryData(sessionQuery);
    } catch (error) {
      if (isSignInRequired(error)) throw redirect({ to: "/login", search: { next: "/first-run" } });
      throw error;
    }
  },
  component: lazyRouteComponent(() => import("./first-run-page"), "FirstRunPage"),
});

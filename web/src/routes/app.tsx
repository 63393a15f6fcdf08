import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { isSignInRequired } from "~/api/errors";
import { sessionQuery } from "~/api/session";
import { rootRoute } from "./root";

/** The frame around all pages for those who are signed in. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "app",
  beforeLoad: async ({ context, location }) => {
    try {
      const session = await context.queries.ensureQueryData(sessionQuery);
      if (session.must_change_password) throw redirect({ to: "/first-run" });
      return { session };
    } catch (error) {
      if (isSignInRequired(error)) throw redirect({ to: "/login", search: { next: location.href } });
      throw error;
    }
  },
  component: lazyRouteComponent(() => import("./app-page"), "AppPage"),
});

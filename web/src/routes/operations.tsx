import { createRoute, redirect } from "@tanstack/react-router";
import { appRoute } from "./app";

/** Where links to the operations workspace lead. */
export const operationsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/operations",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/clusters/$cluster", params, replace: true });
  },
});

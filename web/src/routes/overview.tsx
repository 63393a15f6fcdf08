import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { clustersQuery } from "~/api/clusters";
import { appRoute } from "./app";

export const overviewRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/",
  staticData: { crumb: () => [{ label: "Overview" }] },
  loader: ({ context }) => void context.queries.prefetchQuery(clustersQuery),
  component: lazyRouteComponent(() => import("./overview-page"), "OverviewPage"),
});

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";
import { reads, text } from "./search";

export const clusterRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster",
  validateSearch: reads({ q: text, open: text }),
  staticData: { crumb: ({ cluster = "" }) => [{ label: cluster }] },
  component: lazyRouteComponent(() => import("./cluster-page"), "ClusterPage"),
});

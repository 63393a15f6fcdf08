import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { appRoute } from "./app";
import { text } from "./search";

export const clusterRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster",
  validateSearch: z.object({ q: text, open: text }),
  staticData: { crumb: ({ cluster = "" }) => [{ label: cluster }] },
  component: lazyRouteComponent(() => import("./cluster-page"), "ClusterPage"),
});

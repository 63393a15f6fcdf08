import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { appRoute } from "./app";
import { text } from "./search";

export const clusterSettingsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/settings",
  validateSearch: z.object({ edit: text }),
  staticData: {
    crumb: ({ cluster = "" }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Connection" },
    ],
  },
  component: lazyRouteComponent(() => import("./cluster-settings-page"), "ClusterSettingsPage"),
});

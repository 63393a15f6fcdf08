import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";
import { reads, text } from "./search";

export const clusterSettingsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/settings",
  validateSearch: reads({ edit: text }),
  staticData: {
    crumb: ({ cluster = "" }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Connection" },
    ],
  },
  component: lazyRouteComponent(() => import("./cluster-settings-page"), "ClusterSettingsPage"),
});

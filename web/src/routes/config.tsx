import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";
import { reads, text } from "./search";

export const configRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/config",
  validateSearch: reads({ q: text, offset: text }),
  staticData: {
    crumb: ({ cluster = "" }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Configuration" },
    ],
  },
  component: lazyRouteComponent(() => import("./config-page"), "ConfigPage"),
});

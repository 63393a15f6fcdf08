import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { appRoute } from "./app";
import { text } from "./search";

export const configRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/config",
  validateSearch: z.object({ q: text, offset: text }),
  staticData: {
    crumb: ({ cluster = "" }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Configuration" },
    ],
  },
  component: lazyRouteComponent(() => import("./config-page"), "ConfigPage"),
});

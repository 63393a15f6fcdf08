import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";
import { reads, text } from "./search";

export const catalogRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/catalog",
  validateSearch: reads({ q: text, offset: text, open: text }),
  staticData: {
    crumb: ({ cluster = "" }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Databases" },
    ],
  },
  component: lazyRouteComponent(() => import("./catalog-page"), "CatalogPage"),
});

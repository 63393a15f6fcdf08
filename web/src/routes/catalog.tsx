import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { appRoute } from "./app";
import { text } from "./search";

export const catalogRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/catalog",
  validateSearch: z.object({ q: text, offset: text, open: text }),
  staticData: {
    crumb: ({ cluster = "" }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Catalog" },
    ],
  },
  component: lazyRouteComponent(() => import("./catalog-page"), "CatalogPage"),
});

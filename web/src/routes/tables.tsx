import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { appRoute } from "./app";
import { text } from "./search";

export const tablesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/tables",
  validateSearch: z.object({ database: text, q: text, offset: text, limit: text }),
  staticData: {
    crumb: ({ cluster = "" }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Catalog", link: { to: "/clusters/$cluster/catalog", params: { cluster } } },
      { label: "Tables" },
    ],
  },
  component: lazyRouteComponent(() => import("./tables-page"), "TablesPage"),
});

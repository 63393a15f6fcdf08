import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { appRoute } from "./app";
import { text } from "./search";

export const tableRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/table",
  validateSearch: z.object({ database: text, table: text, tab: text, at: text, spec: text, q: text, offset: text }),
  staticData: {
    crumb: ({ cluster = "" }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Catalog", link: { to: "/clusters/$cluster/catalog", params: { cluster } } },
      { label: "Table" },
    ],
  },
  component: lazyRouteComponent(() => import("./table-page"), "TableRoutePage"),
});

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";
import { reads, text } from "./search";

export const tablesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/tables",
  validateSearch: reads({ database: text, q: text, offset: text, limit: text }),
  staticData: {
    crumb: ({ cluster = "" }, { database }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Databases", link: { to: "/clusters/$cluster/catalog", params: { cluster } } },
      { label: typeof database === "string" ? database : "Tables" },
    ],
  },
  component: lazyRouteComponent(() => import("./tables-page"), "TablesPage"),
});

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";
import { reads, text } from "./search";

export const tableRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/table",
  validateSearch: reads({ database: text, table: text, tab: text, at: text, spec: text, q: text, offset: text }),
  staticData: {
    crumb: ({ cluster = "" }, { database, table }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Databases", link: { to: "/clusters/$cluster/catalog", params: { cluster } } },
      {
        label: String(database ?? ""),
        link: { to: "/clusters/$cluster/tables", params: { cluster }, search: { database: String(database ?? "") } },
      },
      { label: String(table ?? "") },
    ],
  },
  component: lazyRouteComponent(() => import("./table-page"), "TableRoutePage"),
});

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";
import { reads, text } from "./search";

export const aclsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$cluster/acls",
  validateSearch: reads({
    q: text,
    resource: text,
    operation: text,
    principal: text,
    host: text,
    offset: text,
    open: text,
  }),
  staticData: {
    crumb: ({ cluster = "" }) => [
      { label: cluster, link: { to: "/clusters/$cluster", params: { cluster } } },
      { label: "Access control" },
    ],
  },
  component: lazyRouteComponent(() => import("./acls-page"), "AclsPage"),
});

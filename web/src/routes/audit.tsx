import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";
import { reads, text } from "./search";

export const auditRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/audit",
  validateSearch: reads({
    action: text,
    target: text,
    principal: text,
    from: text,
    until: text,
    before: text,
    open: text,
  }),
  staticData: { crumb: () => [{ label: "Settings" }, { label: "Audit" }] },
  component: lazyRouteComponent(() => import("./audit-page"), "AuditPage"),
});

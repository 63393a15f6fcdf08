import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { appRoute } from "./app";
import { text } from "./search";

export const auditRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/audit",
  validateSearch: z.object({
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

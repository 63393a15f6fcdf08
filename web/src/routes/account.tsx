import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";

export const accountRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/account",
  staticData: { crumb: () => [{ label: "Account" }] },
  component: lazyRouteComponent(() => import("./account-page"), "AccountPage"),
});

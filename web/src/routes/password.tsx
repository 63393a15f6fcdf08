import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";

export const passwordRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/account/password",
  staticData: { crumb: () => [{ label: "Account" }, { label: "Password" }] },
  component: lazyRouteComponent(() => import("./password-page"), "PasswordRoutePage"),
});

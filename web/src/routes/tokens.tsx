import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";
import { reads, text } from "./search";

export const tokensRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/tokens",
  validateSearch: reads({ whose: text }),
  staticData: { crumb: () => [{ label: "Settings" }, { label: "Access tokens" }] },
  component: lazyRouteComponent(() => import("./tokens-page"), "TokensPage"),
});

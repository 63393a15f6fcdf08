import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { appRoute } from "./app";
import { text } from "./search";

export const tokensRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/tokens",
  validateSearch: z.object({ whose: text }),
  staticData: { crumb: () => [{ label: "Settings" }, { label: "Access tokens" }] },
  component: lazyRouteComponent(() => import("./tokens-page"), "TokensPage"),
});

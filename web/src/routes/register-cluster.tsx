import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appRoute } from "./app";

/** Not below /clusters/: a cluster may be called "new". */
export const registerClusterRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/register-cluster",
  staticData: { crumb: () => [{ label: "Overview", link: { to: "/" } }, { label: "Register a cluster" }] },
  component: lazyRouteComponent(() => import("./register-cluster-page"), "RegisterClusterPage"),
});

import type { QueryClient } from "@tanstack/react-query";
import { createRouter } from "@tanstack/react-router";
import { basePath } from "~/lib/base-path";
import { parseSearch, stringifySearch } from "~/lib/search-state";
import { accountRoute } from "./account";
import { aclsRoute } from "./acls";
import { appRoute } from "./app";
import { auditRoute } from "./audit";
import { catalogRoute } from "./catalog";
import { clusterRoute } from "./cluster";
import { clusterSettingsRoute } from "./cluster-settings";
import { configRoute } from "./config";
import { firstRunRoute } from "./first-run";
import { loginRoute } from "./login";
import { operationsRoute } from "./operations";
import { overviewRoute } from "./overview";
import { passwordRoute } from "./password";
import { registerClusterRoute } from "./register-cluster";
import { rootRoute } from "./root";
import { tableRoute } from "./table";
import { tablesRoute } from "./tables";
import { tokensRoute } from "./tokens";
import { usersRoute } from "./users";

const pages = [
  loginRoute,
  firstRunRoute,
  appRoute.addChildren([
    overviewRoute,
    registerClusterRoute,
    clusterRoute,
    catalogRoute,
    tablesRoute,
    tableRoute,
    configRoute,
    aclsRoute,
    clusterSettingsRoute,
    operationsRoute,
    usersRoute,
    tokensRoute,
    auditRoute,
    accountRoute,
    passwordRoute,
  ]),
] as const;
const productTree = rootRoute.addChildren([...pages]);

/** The tree of the product; with the gallery only in builds that ask for it, so that no other holds a line of it. */
async function routeTree(): Promise<typeof productTree> {
  if (!import.meta.env.DEV && import.meta.env.MODE !== "gallery") return productTree;
  const { galleryRoutes } = await import("./gallery");
  return rootRoute.addChildren([...pages, ...galleryRoutes]) as unknown as typeof productTree;
}

export async function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree: await routeTree(),
    basepath: basePath(document.baseURI) || "/",
    context: { queries },
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    // Whether an answer is fresh is for the queries to say.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: Awaited<ReturnType<typeof createAppRouter>>;
  }
}

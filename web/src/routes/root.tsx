import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, Link, Outlet, retainSearchParams } from "@tanstack/react-router";
import { useEffect, useLayoutEffect } from "react";
import * as z from "zod/mini";
import { FailureView } from "~/components/failure-view";
import { isZone } from "~/lib/instant";
import { EmptyState } from "~/ui/list-states";
import { PageTitle } from "~/ui/page-title";
import { Panel } from "~/ui/panel";
import { useStore } from "~/ui/use-store";
import { linkZoneStore, zoneStore } from "~/ui/zone";
import { reads } from "./search";

export interface RouterContext {
  readonly queries: QueryClient;
}

export const rootRoute = createRootRouteWithContext<RouterContext>()({
  // The zone of a shared link wins over one's own choice and stays while one goes on from there.
  validateSearch: reads({ tz: z.catch(z.optional(z.string().check(z.refine(isZone))), undefined) }),
  search: { middlewares: [retainSearchParams(["tz"])] },
  component: Root,
  errorComponent: ({ error, reset }) => (
    <>
      <PageTitle>This page cannot be shown</PageTitle>
      <Panel>
        <FailureView error={error} onRetry={reset} />
      </Panel>
    </>
  ),
  notFoundComponent: NotFound,
});

function Root() {
  const { tz } = rootRoute.useSearch();
  const own = useStore(zoneStore);
  const navigate = rootRoute.useNavigate();
  useLayoutEffect(() => linkZoneStore.set(tz), [tz]);
  // What changes what is seen stands in the address: a zone of one's own too.
  useEffect(() => {
    if (tz !== undefined || own === "local") return;
    void navigate({ to: ".", search: ((before: object) => ({ ...before, tz: own })) as never, replace: true });
  }, [tz, own, navigate]);
  return <Outlet />;
}

function NotFound() {
  return (
    <>
      <PageTitle>There is no such page</PageTitle>
      <Panel>
        <EmptyState title="The address leads nowhere" action={<Link to="/">Go to the overview</Link>}>
          It may be of another version of Pegel, or mistyped.
        </EmptyState>
      </Panel>
    </>
  );
}

// The frame of the signed-in console with all that reaches over pages: rail, top bar, palette, keys, banners, notices.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, type LinkProps, useMatches, useNavigate, useParams, useRouter } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { followChanges } from "~/api/changes";
import { clustersQuery } from "~/api/clusters";
import type { Session } from "~/api/session";
import { Announcer } from "~/ui/announce";
import { Breadcrumb } from "~/ui/breadcrumb";
import { CopyButton } from "~/ui/copy-button";
import { Frame, JumpButton } from "~/ui/frame";
import { useHotkeys } from "~/ui/hotkeys";
import { Toasts } from "~/ui/toast";
import { useZone } from "~/ui/zone";
import { AddressNotice } from "./address-notice";
import type { Crumb } from "./crumb";
import { LinkBanner } from "./link-banner";
import { placeGroups } from "./navigation";
import { pageLink } from "./page-link";
import { Rail } from "./rail";
import { UserMenu } from "./user-menu";

const Palette = lazy(() => import("./palette"));
const HelpSheet = lazy(() => import("~/ui/help-sheet").then((module) => ({ default: module.HelpSheet })));
const ZoneDialog = lazy(() => import("./zone-dialog"));

type Overlay = "palette" | "help" | "zone";

export function AppShell({ session, children }: { readonly session: Session; readonly children: ReactNode }) {
  const [overlay, setOverlay] = useState<Overlay>();
  const { cluster } = useParams({ strict: false });
  const { data } = useQuery(clustersQuery);
  const current = data?.items.find((candidate) => candidate.slug === cluster);
  const queries = useQueryClient();
  const zone = useZone();
  useEffect(() => followChanges(queries), [queries]);
  useFocusOnArrival();
  useShellKeys(cluster, setOverlay);
  const close = () => setOverlay(undefined);

  return (
    <Frame
      environment={current?.environment}
      rail={<Rail cluster={cluster} session={session} />}
      crumb={<Crumbs />}
      tools={
        <>
          <CopyButton text={() => pageLink(window.location.href, zone)} what="link to this page" icon="link" />
          <JumpButton onClick={() => setOverlay("palette")} />
          <UserMenu session={session} onZone={() => setOverlay("zone")} onHelp={() => setOverlay("help")} />
        </>
      }
      banners={
        <>
          <LinkBanner />
          <AddressNotice />
        </>
      }
    >
      {children}
      <Suspense>
        {overlay === "palette" && <Palette cluster={cluster} onClose={close} onOverlay={setOverlay} />}
        {overlay === "help" && <HelpSheet onClose={close} />}
        {overlay === "zone" && <ZoneDialog onClose={close} />}
      </Suspense>
      <Toasts />
      <Announcer />
    </Frame>
  );
}

/** After a change of page the focus goes to its heading. */
function useFocusOnArrival() {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ fromLocation, pathChanged }) => {
        if (fromLocation === undefined || !pathChanged) return;
        document.querySelector<HTMLElement>("[data-page-title]")?.focus({ preventScroll: true });
      }),
    [router],
  );
}

function useShellKeys(cluster: string | undefined, setOverlay: (overlay: Overlay) => void) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const places = placeGroups(cluster).flatMap((group) => group.places);
  useHotkeys([
    {
      keys: "mod+k",
      label: "Search or jump to",
      group: "Everywhere",
      whileTyping: true,
      run: () => setOverlay("palette"),
    },
    { keys: "?", label: "This help", group: "Everywhere", run: () => setOverlay("help") },
    { keys: ".", label: "Read the page again", group: "Everywhere", run: () => void queries.invalidateQueries() },
    ...places.flatMap((place) =>
      place.keys === undefined
        ? []
        : [{ keys: place.keys, label: place.label, group: "Go to", run: () => void navigate(place.link) }],
    ),
  ]);
}

/** The way to this page, from the crumbs of its routes. */
function Crumbs() {
  const crumbs = useMatches().flatMap((match): Crumb[] => match.staticData.crumb?.(match.params, match.search) ?? []);
  const last = crumbs.at(-1);
  if (last === undefined) return null;
  return (
    <Breadcrumb
      current={<bdi>{last.label}</bdi>}
      links={crumbs.slice(0, -1).map((crumb) =>
        crumb.link === undefined ? (
          <bdi key={crumb.label}>{crumb.label}</bdi>
        ) : (
          <Link key={crumb.label} {...(crumb.link as LinkProps)}>
            <bdi>{crumb.label}</bdi>
          </Link>
        ),
      )}
    />
  );
}

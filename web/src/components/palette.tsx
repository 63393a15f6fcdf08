import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { clustersQuery } from "~/api/clusters";
import { announce } from "~/ui/announce";
import { copyText } from "~/ui/clipboard";
import { type Command, CommandPalette } from "~/ui/command-palette";
import { themeStore } from "~/ui/theme-choice";
import { useZone } from "~/ui/zone";
import { placeGroups } from "./navigation";
import { pageLink } from "./page-link";

interface PaletteProps {
  readonly cluster: string | undefined;
  readonly onClose: () => void;
  readonly onOverlay: (overlay: "help" | "zone") => void;
}

/** Pages, clusters and actions by name. */
export default function Palette({ cluster, onClose, onOverlay }: PaletteProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const zone = useZone();
  const { data } = useQuery(clustersQuery);
  const pages = placeGroups(cluster).flatMap((group) =>
    group.places.map(
      (place): Command => ({
        id: `page-${place.id}`,
        label: place.label,
        group: "Pages",
        ...(place.keys === undefined ? {} : { keys: place.keys }),
        run: () => void navigate(place.link),
      }),
    ),
  );
  const clusters = (data?.items ?? []).map(
    (item): Command => ({
      id: `cluster-${item.slug}`,
      label: item.name,
      group: "Clusters",
      hint: item.slug === item.name ? item.environment : `${item.slug} · ${item.environment}`,
      run: () => void navigate({ to: "/clusters/$cluster", params: { cluster: item.slug } }),
    }),
  );
  const actions: Command[] = [
    {
      id: "refresh",
      label: "Read the page again",
      group: "Actions",
      keys: ".",
      run: () => void queries.invalidateQueries(),
    },
    { id: "dark", label: "Use the dark theme", group: "Actions", run: () => themeStore.set("dark") },
    { id: "light", label: "Use the light theme", group: "Actions", run: () => themeStore.set("light") },
    {
      id: "link",
      label: "Copy the link to this page",
      group: "Actions",
      run: () =>
        void copyText(pageLink(window.location.href, zone)).then((worked) =>
          announce(worked ? "Copied link to this page" : "Could not copy the link"),
        ),
    },
    { id: "zone", label: "Choose the time zone", group: "Actions", run: () => onOverlay("zone") },
    { id: "help", label: "Keys on this page", group: "Actions", keys: "?", run: () => onOverlay("help") },
    {
      id: "password",
      label: "Change password",
      group: "Actions",
      run: () => void navigate({ to: "/account/password" }),
    },
  ];
  return <CommandPalette commands={[...pages, ...clusters, ...actions]} onClose={onClose} />;
}

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { clustersQuery } from "~/api/clusters";
import type { Session } from "~/api/session";
import { resolveZone } from "~/lib/instant";
import { DropdownMenu } from "~/ui/dropdown-menu";
import { BrandMark, RailCluster, RailFoot, RailGroup, railBrandClass } from "~/ui/frame";
import { Kbd } from "~/ui/kbd";
import { useZone } from "~/ui/zone";
import { placeGroups } from "./navigation";

/** The dark rail: brand, cluster, places, who is signed in. */
export function Rail({ cluster, session }: { readonly cluster: string | undefined; readonly session: Session }) {
  const zone = useZone();
  const here = usePlaceOfPart();
  return (
    <nav aria-label="Main">
      <Link to="/" className={railBrandClass}>
        <BrandMark />
      </Link>
      <ClusterSwitcher cluster={cluster} />
      {placeGroups(cluster).map((group) => (
        <RailGroup key={group.id} title={group.title}>
          {group.places.map((place) => (
            <Link
              key={place.id}
              {...place.link}
              activeOptions={{ exact: place.exact ?? false, includeSearch: false }}
              {...(place.id === here ? { "aria-current": "page" as const } : {})}
            >
              {place.label}
            </Link>
          ))}
        </RailGroup>
      ))}
      <RailFoot>
        <span>
          {session.name} · {session.role}
        </span>
        <span>
          {resolveZone(zone)} <Kbd keys="?" onRail />
        </span>
      </RailFoot>
    </nav>
  );
}

/** The place that a page belongs to which is none itself. */
function usePlaceOfPart(): string | undefined {
  return useRouterState({
    select: ({ location }) => PARTS.find(([end]) => location.pathname.endsWith(end))?.[1],
  });
}
const PARTS = [
  ["/table", "tables"],
  ["/register-cluster", "overview"],
  ["/account/password", "account"],
] as const;

function ClusterSwitcher({ cluster }: { readonly cluster: string | undefined }) {
  const { data } = useQuery(clustersQuery);
  const navigate = useNavigate();
  const clusters = data?.items ?? [];
  if (clusters.length === 0) return null;
  const current = clusters.find((candidate) => candidate.slug === cluster);
  return (
    <DropdownMenu
      label="Clusters"
      trigger={(props) => (
        <RailCluster {...props} name={current?.name ?? "Choose a cluster"} environment={current?.environment} />
      )}
      groups={[
        {
          id: "clusters",
          label: "Clusters",
          entries: clusters.map((candidate) => ({
            id: candidate.slug,
            label: candidate.name,
            hint: candidate.environment,
            current: candidate.slug === cluster,
            run: () => void navigate({ to: "/clusters/$cluster", params: { cluster: candidate.slug } }),
          })),
        },
      ]}
    />
  );
}

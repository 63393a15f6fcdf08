// The places of the console that can be jumped to: one list for the rail, the palette and the keys.
import type { LinkProps } from "@tanstack/react-router";

export interface Place {
  readonly id: string;
  readonly label: string;
  readonly link: LinkProps;
  /** "g c". */
  readonly keys?: string;
  /** Is the current one only on exactly its own address. */
  readonly exact?: boolean;
}

export interface PlaceGroup {
  readonly id: string;
  readonly title?: string;
  readonly places: readonly Place[];
}

/** All places; those of a cluster only where one is at hand. */
export function placeGroups(cluster: string | undefined): readonly PlaceGroup[] {
  const groups: PlaceGroup[] = [
    { id: "home", places: [{ id: "overview", label: "Overview", link: { to: "/" }, keys: "g o", exact: true }] },
  ];
  if (cluster !== undefined) {
    groups.push({
      id: "cluster",
      title: "Cluster",
      places: [
        {
          id: "servers",
          label: "Servers",
          link: { to: "/clusters/$cluster", params: { cluster } },
          keys: "g c",
          exact: true,
        },
        {
          id: "catalog",
          label: "Databases",
          link: { to: "/clusters/$cluster/catalog", params: { cluster } },
          keys: "g d",
        },
        { id: "tables", label: "Tables", link: { to: "/clusters/$cluster/tables", params: { cluster } }, keys: "g t" },
        {
          id: "config",
          label: "Configuration",
          link: { to: "/clusters/$cluster/config", params: { cluster } },
          keys: "g f",
        },
        {
          id: "acls",
          label: "Access control",
          link: { to: "/clusters/$cluster/acls", params: { cluster } },
          keys: "g a",
        },
        {
          id: "connection",
          label: "Connection",
          link: { to: "/clusters/$cluster/settings", params: { cluster } },
          keys: "g k",
        },
      ],
    });
  }
  groups.push({
    id: "settings",
    title: "Settings",
    places: [
      { id: "users", label: "Users", link: { to: "/users" }, keys: "g u" },
      { id: "tokens", label: "Access tokens", link: { to: "/tokens" }, keys: "g n" },
      { id: "audit", label: "Audit", link: { to: "/audit" }, keys: "g l" },
      { id: "account", label: "My account", link: { to: "/account" }, keys: "g m", exact: true },
    ],
  });
  return groups;
}

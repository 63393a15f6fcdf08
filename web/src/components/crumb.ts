export interface Crumb {
  readonly label: string;
  /** Where it leads. Not typed by the routes: they hold crumbs themselves. */
  readonly link?: {
    readonly to: string;
    readonly params?: Readonly<Record<string, string>>;
    readonly search?: Readonly<Record<string, string>>;
  };
}

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    /** What this route adds to the way shown in the top bar. */
    crumb?: (params: Readonly<Record<string, string>>, search: Readonly<Record<string, unknown>>) => Crumb[];
  }
}

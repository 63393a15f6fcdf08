import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "./root";

// Only in builds that ask for it (vite.config.ts); the product has no such pages.
export const galleryRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/gallery",
    component: lazyRouteComponent(() => import("~/gallery/gallery")),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/gallery/frame",
    component: lazyRouteComponent(() => import("~/gallery/frames")),
  }),
];

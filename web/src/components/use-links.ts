import { type NavigateOptions, type ToOptions, useNavigate, useRouter } from "@tanstack/react-router";
import { useMemo } from "react";

export interface Links {
  /** The address of a place, for a real link. */
  readonly href: (to: ToOptions) => string;
  readonly go: (to: NavigateOptions) => void;
}

/** Addresses of places and the way there. */
export function useLinks(): Links {
  const router = useRouter();
  const navigate = useNavigate();
  return useMemo(
    () => ({
      href: (to) => router.buildLocation(to as never).publicHref,
      go: (to) => void navigate(to as never),
    }),
    [router, navigate],
  );
}

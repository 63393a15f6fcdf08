// Floats (menus, popovers, tooltips) on the browser's own popover: in the top layer, so nothing cuts them off, and in their
// place in the document, so order, landmarks and dialogs stay right. Only the placing is ours.
import { type RefObject, useEffect, useEffectEvent, useState } from "react";

export type Placement = "below-start" | "below-end" | "above-start";

const GAP = 4;
const EDGE = 8;

/** Puts a float at its anchor: on the wanted side where there is room, else on the other; never outside the window. */
export function placeFloat(float: HTMLElement, anchor: HTMLElement, placement: Placement): void {
  const at = anchor.getBoundingClientRect();
  const width = float.offsetWidth;
  const height = float.offsetHeight;
  const below = at.bottom + GAP;
  const above = at.top - GAP - height;
  const fitsBelow = below + height <= window.innerHeight - EDGE;
  const fitsAbove = above >= EDGE;
  const top = placement === "above-start" ? (fitsAbove ? above : below) : fitsBelow || !fitsAbove ? below : above;
  const left = placement === "below-end" ? at.right - width : at.left;
  float.style.top = `${Math.round(Math.max(EDGE, top))}px`;
  float.style.left = `${Math.round(Math.min(Math.max(EDGE, left), window.innerWidth - EDGE - width))}px`;
}

/** Keeps an open float at its anchor while the page scrolls or changes its size. Returns whether it is open. */
export function useFloat(
  float: RefObject<HTMLElement | null>,
  anchor: RefObject<HTMLElement | null>,
  placement: Placement,
): boolean {
  const [open, setOpen] = useState(false);
  const place = useEffectEvent(() => {
    if (float.current !== null && anchor.current !== null) placeFloat(float.current, anchor.current, placement);
  });
  useEffect(() => {
    const element = float.current;
    const onToggle = (event: Event) => {
      const isOpen = (event as ToggleEvent).newState === "open";
      if (isOpen) place();
      setOpen(isOpen);
    };
    element?.addEventListener("toggle", onToggle);
    return () => element?.removeEventListener("toggle", onToggle);
  }, [float]);
  useEffect(() => {
    if (!open) return;
    const onMove = () => place();
    // Its content may come or grow after it was opened.
    const observer = new ResizeObserver(onMove);
    if (float.current !== null) observer.observe(float.current);
    window.addEventListener("scroll", onMove, { capture: true, passive: true });
    window.addEventListener("resize", onMove);
    return () => {
      observer.disconnect();
      window.removeEventListener("scroll", onMove, { capture: true });
      window.removeEventListener("resize", onMove);
    };
  }, [open, float]);
  return open;
}

/** Shows a float already in its place, so that it never jumps. */
export function showFloat(float: HTMLElement | null, anchor: HTMLElement | null, placement: Placement): void {
  if (float === null || anchor === null || float.matches(":popover-open")) return;
  float.showPopover();
  placeFloat(float, anchor, placement);
}

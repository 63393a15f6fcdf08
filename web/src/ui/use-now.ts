import { useSyncExternalStore } from "react";

// One timer for all ages of a page, at rest while the tab is hidden.
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

function tick() {
  now = Date.now();
  for (const listener of [...listeners]) listener();
}

function adjust() {
  const wanted = listeners.size > 0 && !document.hidden;
  if (wanted && timer === undefined) {
    timer = setInterval(tick, 1000);
  } else if (!wanted && timer !== undefined) {
    clearInterval(timer);
    timer = undefined;
  }
}

function onVisibility() {
  if (!document.hidden) tick();
  adjust();
}

function subscribe(listener: () => void) {
  if (listeners.size === 0) {
    now = Date.now();
    document.addEventListener("visibilitychange", onVisibility);
  }
  listeners.add(listener);
  adjust();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) document.removeEventListener("visibilitychange", onVisibility);
    adjust();
  };
}

/** The time of the browser in milliseconds, anew each second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

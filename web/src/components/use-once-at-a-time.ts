import { useRef } from "react";

/**
 * Makes sure that a call that changes something is in flight once only: a second click or key press in the same moment, before
 * the page was drawn anew, does nothing.
 */
export function useOnceAtATime<A extends unknown[]>(run: (...args: A) => Promise<unknown>): (...args: A) => void {
  const busy = useRef(false);
  return (...args) => {
    if (busy.current) return;
    busy.current = true;
    const done = () => {
      busy.current = false;
    };
    run(...args).then(done, done);
  };
}

import { createStore } from "~/lib/store";
import { useStore } from "./use-store";
import { VisuallyHidden } from "./visually-hidden";

const spoken = createStore({ text: "", turn: 0 });

/** Says a short text to readers of screens: "Copied", "12 rows loaded". */
export function announce(text: string): void {
  spoken.set((before) => ({ text, turn: before.turn + 1 }));
}

/** The one live region of a page; the application frame holds it. */
export function Announcer() {
  const { text, turn } = useStore(spoken);
  // The no-break space makes the same words twice in a row a change that is read out.
  return (
    <div aria-live="polite" role="status">
      <VisuallyHidden>
        {text}
        {turn % 2 === 1 ? "\u00a0" : ""}
      </VisuallyHidden>
    </div>
  );
}

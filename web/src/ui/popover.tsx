import { type ReactElement, type ReactNode, useId, useRef } from "react";
import { showFloat, useFloat } from "./floating";
import styles from "./floating.module.css";

/** What the button that opens a float has to take over. */
export interface FloatTrigger {
  readonly ref: React.RefObject<HTMLButtonElement | null>;
  readonly "aria-expanded": boolean;
  readonly "aria-controls": string;
  readonly onClick: () => void;
}

interface PopoverProps {
  readonly label: string;
  readonly trigger: (props: FloatTrigger) => ReactElement;
  readonly end?: boolean;
  readonly children: ReactNode;
}

/** A small panel at a button. Escape or a click beside it closes and gives the focus back. */
export function Popover({ label, trigger, end = false, children }: PopoverProps) {
  const id = useId();
  const float = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLButtonElement>(null);
  const placement = end ? "below-end" : "below-start";
  const open = useFloat(float, anchor, placement);
  const toggle = () => {
    if (open) float.current?.hidePopover();
    else {
      showFloat(float.current, anchor.current, placement);
      float.current?.focus();
    }
  };
  return (
    <>
      {trigger({ ref: anchor, "aria-expanded": open, "aria-controls": id, onClick: toggle })}
      <div ref={float} id={id} popover="auto" role="dialog" aria-label={label} tabIndex={-1} className={styles.float}>
        {open && children}
      </div>
    </>
  );
}

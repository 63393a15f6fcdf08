import { type ComponentPropsWithRef, type ReactNode, useEffect, useId, useRef } from "react";
import styles from "./button.module.css";
import { showFloat, useFloat } from "./floating";
import floats from "./floating.module.css";
import { Icon, type IconName } from "./icon";
import { VisuallyHidden } from "./visually-hidden";

interface Looks {
  readonly look?: "default" | "primary" | "danger" | "quiet";
  readonly size?: "normal" | "small";
  readonly icon?: IconName;
}

interface ButtonProps extends Looks, Omit<ComponentPropsWithRef<"button">, "disabled" | "aria-disabled"> {
  /** Why it cannot be pressed now. The button stays reachable by keyboard, so that the reason can be read. */
  readonly disabledReason?: string | undefined;
  /** Shows the reason beside the button instead of in a tooltip; for dialogs. */
  readonly reasonBeside?: boolean;
  /** Working on it: cannot be pressed twice. */
  readonly busy?: boolean;
  readonly children: ReactNode;
}

export function Button(props: ButtonProps) {
  const {
    look = "default",
    size = "normal",
    icon,
    disabledReason,
    reasonBeside,
    busy,
    children,
    onClick,
    ...others
  } = props;
  const reasonId = useId();
  const blocked = disabledReason !== undefined || busy === true;
  const button = (
    <button
      type="button"
      {...others}
      className={styles.button}
      data-look={look}
      data-size={size}
      aria-disabled={disabledReason === undefined ? undefined : true}
      aria-describedby={disabledReason === undefined ? others["aria-describedby"] : reasonId}
      aria-busy={busy === true ? true : undefined}
      onClick={(event) => (blocked ? event.preventDefault() : onClick?.(event))}
    >
      {busy === true ? <span className={styles.spinner} aria-hidden="true" /> : icon && <Icon name={icon} size={14} />}
      {children}
    </button>
  );
  if (disabledReason === undefined) return button;
  if (reasonBeside === true) {
    return (
      <span className={styles.wrap}>
        {button}
        <span id={reasonId} className={styles.reason}>
          {disabledReason}
        </span>
      </span>
    );
  }
  return (
    <WithTip id={reasonId} text={disabledReason}>
      {button}
    </WithTip>
  );
}

const TIP_DELAY_MS = 350;

/** Shows a text over what it wraps while it is pointed at or has the focus. */
function WithTip({ id, text, children }: { readonly id: string; readonly text: string; readonly children: ReactNode }) {
  const anchor = useRef<HTMLSpanElement>(null);
  const tip = useRef<HTMLSpanElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useFloat(tip, anchor, "above-start");
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = () => showFloat(tip.current, anchor.current, "above-start");
  const hide = () => {
    clearTimeout(timer.current);
    if (tip.current?.matches(":popover-open")) tip.current.hidePopover();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is pointed at is the button in it.
    <span
      ref={anchor}
      className={styles.tipped}
      onFocus={show}
      onBlur={hide}
      onMouseEnter={() => {
        timer.current = setTimeout(show, TIP_DELAY_MS);
      }}
      onMouseLeave={hide}
      onKeyDown={(event) => event.key === "Escape" && hide()}
    >
      {children}
      <span ref={tip} id={id} popover="manual" role="tooltip" className={floats.tip}>
        {text}
      </span>
    </span>
  );
}

interface IconButtonProps extends Omit<ComponentPropsWithRef<"button">, "children"> {
  readonly icon: IconName;
  /** What it does; read out and shown on hover. */
  readonly label: string;
  readonly look?: Looks["look"];
  readonly size?: Looks["size"];
}

export function IconButton({ icon, label, look = "quiet", size = "normal", ...others }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...others}
      className={styles.button}
      data-look={look}
      data-size={size}
      data-icon-only=""
    >
      <Icon name={icon} size={size === "small" ? 14 : 16} />
      <VisuallyHidden>{label}</VisuallyHidden>
    </button>
  );
}

interface ButtonLinkProps extends Looks, ComponentPropsWithRef<"a"> {}

/** A real link that looks like a button: opens in a new tab with Ctrl-click. Routers pass their own props through. */
export function ButtonLink({ look = "default", size = "normal", icon, children, ...others }: ButtonLinkProps) {
  return (
    <a {...others} className={styles.button} data-look={look} data-size={size}>
      {icon && <Icon name={icon} size={14} />}
      {children}
    </a>
  );
}

import { useEffect, useRef, useState } from "react";
import { announce } from "./announce";
import { Button, IconButton } from "./button";
import { copyText } from "./clipboard";
import type { IconName } from "./icon";

interface CopyButtonProps {
  /** The text, or how to make it at the moment of the click. */
  readonly text: string | (() => string);
  /** What is copied: "offset", "row as JSON". */
  readonly what: string;
  readonly icon?: IconName;
  /** Words on the button; without them only the sign is drawn. */
  readonly children?: string;
}

const SHOWN_MS = 1600;

/** Copies, also on plain HTTP, and says whether it worked. */
export function CopyButton({ text, what, icon: plain = "copy", children }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<"copied" | "failed">();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const copy = async () => {
    const worked = await copyText(typeof text === "function" ? text() : text);
    setOutcome(worked ? "copied" : "failed");
    announce(worked ? `Copied ${what}` : `Could not copy ${what}; select it and copy by hand`);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOutcome(undefined), SHOWN_MS);
  };

  const icon = outcome === "copied" ? "check" : outcome === "failed" ? "alert" : plain;
  if (children === undefined) {
    return (
      <IconButton
        icon={icon}
        size="small"
        label={outcome === "failed" ? `Could not copy ${what}` : `Copy ${what}`}
        onClick={copy}
      />
    );
  }
  return (
    <Button icon={icon} size="small" look="quiet" onClick={copy}>
      {outcome === "copied" ? "Copied" : outcome === "failed" ? "Could not copy" : children}
    </Button>
  );
}

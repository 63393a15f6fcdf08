import { Fragment } from "react";
import { Time } from "./values";

const INSTANT = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2}))/;

/** A sentence of the server; the times in it are shown as all others, in the zone at hand. */
export function TextWithTimes({ text }: { readonly text: string }) {
  return text
    .split(INSTANT)
    .map((part, index) =>
      index % 2 === 1 ? <Time key={index} at={part} precision="second" /> : <Fragment key={index}>{part}</Fragment>,
    );
}

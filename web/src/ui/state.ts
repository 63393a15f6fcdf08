// The states of the console: what each is called and how loud it is. One list, so that no page invents its own.

export type StateName =
  | "ok"
  | "risk"
  | "critical"
  | "partial"
  | "stale"
  | "unavailable"
  | "unknown"
  | "outcome_unknown"
  | "reconciliation_pending"
  | "empty"
  | "unsupported"
  | "security_disabled"
  | "refused"
  | "denied"
  | "no_data"
  | "held"
  | "paused";

export type Tone = "ok" | "warn" | "bad" | "stale" | "unknown" | "quiet";
export type Fill = "solid" | "dashed" | "hatch" | "outline";
export type GlyphName =
  | "check"
  | "triangle"
  | "cross"
  | "half"
  | "clock"
  | "slash"
  | "question"
  | "dashed"
  | "turn"
  | "ring"
  | "minus"
  | "lock"
  | "hand"
  | "pause";

export interface StateLook {
  readonly word: string;
  readonly tone: Tone;
  readonly fill: Fill;
  readonly glyph: GlyphName;
}

export const STATES: Readonly<Record<StateName, StateLook>> = {
  ok: { word: "ok", tone: "ok", fill: "solid", glyph: "check" },
  risk: { word: "risk", tone: "warn", fill: "solid", glyph: "triangle" },
  critical: { word: "critical", tone: "bad", fill: "solid", glyph: "cross" },
  partial: { word: "partial", tone: "warn", fill: "dashed", glyph: "half" },
  stale: { word: "stale", tone: "stale", fill: "dashed", glyph: "clock" },
  unavailable: { word: "unavailable", tone: "unknown", fill: "hatch", glyph: "slash" },
  unknown: { word: "unknown", tone: "unknown", fill: "hatch", glyph: "dashed" },
  outcome_unknown: { word: "outcome unknown", tone: "unknown", fill: "hatch", glyph: "question" },
  reconciliation_pending: { word: "not yet confirmed", tone: "stale", fill: "dashed", glyph: "turn" },
  empty: { word: "empty", tone: "quiet", fill: "outline", glyph: "ring" },
  unsupported: { word: "not supported here", tone: "quiet", fill: "outline", glyph: "minus" },
  security_disabled: { word: "security is off", tone: "quiet", fill: "outline", glyph: "minus" },
  refused: { word: "refused", tone: "bad", fill: "dashed", glyph: "hand" },
  denied: { word: "no permission", tone: "quiet", fill: "outline", glyph: "lock" },
  no_data: { word: "no data", tone: "unknown", fill: "hatch", glyph: "dashed" },
  held: { word: "held back", tone: "quiet", fill: "dashed", glyph: "pause" },
  paused: { word: "paused", tone: "quiet", fill: "outline", glyph: "pause" },
};

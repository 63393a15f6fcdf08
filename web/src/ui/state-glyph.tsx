import type { GlyphName } from "./state";

const line = {
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.4,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;

const GLYPHS: Readonly<Record<GlyphName, React.ReactNode>> = {
  check: <path {...line} strokeWidth={1.8} d="M2 6.5l2.6 2.6L10 3.4" />,
  triangle: <path {...line} d="M6 1.6l4.8 8.6H1.2zM6 4.9v2.2M6 8.6h.01" />,
  cross: (
    <>
      <rect x="1" y="1" width="10" height="10" rx="2" fill="currentColor" />
      <path {...line} stroke="var(--panel)" strokeWidth={1.5} d="M4.1 4.1l3.8 3.8M7.9 4.1L4.1 7.9" />
    </>
  ),
  half: (
    <>
      <circle {...line} cx="6" cy="6" r="4.6" />
      <path d="M6 1.4a4.6 4.6 0 010 9.2z" fill="currentColor" />
    </>
  ),
  clock: <path {...line} d="M6 1.4a4.6 4.6 0 110 9.2 4.6 4.6 0 010-9.2zM6 3.7V6l1.7 1.2" />,
  slash: <path {...line} d="M6 1.4a4.6 4.6 0 110 9.2 4.6 4.6 0 010-9.2zM2.8 9.2l6.4-6.4" />,
  question: <path {...line} d="M4 4.2a2 2 0 113 1.7c-.7.4-1 .8-1 1.5M6 9.6h.01" />,
  dashed: <circle {...line} cx="6" cy="6" r="4.6" strokeDasharray="1.9 1.7" strokeLinecap="butt" />,
  turn: <path {...line} d="M10.4 6A4.4 4.4 0 119 2.8M10.4 1.2v2.2H8.2" />,
  ring: <circle {...line} cx="6" cy="6" r="3.4" />,
  minus: <path {...line} d="M6 1.4a4.6 4.6 0 110 9.2 4.6 4.6 0 010-9.2zM3.8 6h4.4" />,
  lock: <path {...line} d="M2.6 5.6h6.8v4.8H2.6zM4 5.6V4a2 2 0 014 0v1.6" />,
  hand: <path {...line} d="M4 1.4h4l2.6 2.6v4L8 10.6H4L1.4 8V4zM4.2 4.2l3.6 3.6M7.8 4.2L4.2 7.8" />,
  pause: <path {...line} strokeWidth={1.8} d="M4 2.8v6.4M8 2.8v6.4" />,
};

/** The 12 px sign of a state. Decoration: the word beside it says the same. */
export function StateGlyph({ name }: { readonly name: GlyphName }) {
  return (
    <svg aria-hidden="true" focusable="false" width="12" height="12" viewBox="0 0 12 12">
      {GLYPHS[name]}
    </svg>
  );
}

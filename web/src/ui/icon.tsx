// The icons of the console: 16 px line drawings in the colour of the text. Decoration only: the word stands beside it or in
// the label of the control.

const PATHS = {
  check: "M3 8.5l3.2 3.2L13 4.8",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M6 6h7v7.5H6zM10 6V2.5H3V10h3",
  search: "M7 2.5a4.5 4.5 0 110 9 4.5 4.5 0 010-9zM10.4 10.4l3.1 3.1",
  "chevron-down": "M4 6l4 4 4-4",
  "chevron-up": "M4 10l4-4 4 4",
  "chevron-right": "M6 4l4 4-4 4",
  "chevron-left": "M10 4l-4 4 4 4",
  "sort-up": "M8 12.5V3.5M4.5 7L8 3.5 11.5 7",
  "sort-down": "M8 3.5v9M4.5 9L8 12.5 11.5 9",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  refresh: "M13 8a5 5 0 11-1.6-3.7M13 2.5v2.8h-2.8",
  stop: "M4.5 4.5h7v7h-7z",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  external: "M9 3h4v4M13 3L7.5 8.5M11 9.5V13H3V5h3.5",
  link: "M6.8 9.2l2.4-2.4M5.2 7.2L3.6 8.8a2.6 2.6 0 003.6 3.6l1.6-1.6M10.8 8.8l1.6-1.6a2.6 2.6 0 00-3.6-3.6L7.2 5.2",
  terminal: "M2.5 3h11v10h-11zM5 6l2 2-2 2M8.5 10.5H11",
  sun: "M8 5.2a2.8 2.8 0 110 5.6 2.8 2.8 0 010-5.6zM8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1",
  moon: "M13 9.6A5.5 5.5 0 016.4 3 5.5 5.5 0 1013 9.6z",
  auto: "M8 2.5a5.5 5.5 0 110 11 5.5 5.5 0 010-11zM8 2.5v11M8 5h4.6M8 8h5.5M8 11h4.6",
  user: "M8 2.8a2.6 2.6 0 110 5.2 2.6 2.6 0 010-5.2zM3 13.2c.6-2.4 2.5-3.6 5-3.6s4.4 1.2 5 3.6",
  clock: "M8 2.5a5.5 5.5 0 110 11 5.5 5.5 0 010-11zM8 5v3.2l2.2 1.4",
  lock: "M4 7.5h8v5.5H4zM5.6 7.5V5.4a2.4 2.4 0 014.8 0v2.1",
  plug: "M6 2.5v3M10 2.5v3M4.5 5.5h7v2.2A3.5 3.5 0 018 11.2a3.5 3.5 0 01-3.5-3.5zM8 11.2v2.5",
  filter: "M2.5 3.5h11L9.3 8.4v4.1l-2.6-1.3V8.4z",
  plus: "M8 3v10M3 8h10",
  empty: "M2.5 9.5l2-6h7l2 6v3.5h-11zM2.5 9.5h3.2c.2 1.2 1 1.8 2.3 1.8s2.1-.6 2.3-1.8h3.2",
  info: "M8 2.5a5.5 5.5 0 110 11 5.5 5.5 0 010-11zM8 7.4v3.4M8 5.2h.01",
  alert: "M8 2.4l6 10.8H2zM8 6.4v3M8 11.3h.01",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      focusable="false"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

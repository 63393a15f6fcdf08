/** A gauge in the water. */
export function Logo({ size = 22 }: { readonly size?: number }) {
  return (
    <svg aria-hidden="true" focusable="false" width={size} height={size} viewBox="0 0 22 22">
      <rect x="7" y="1" width="8" height="20" rx="1.5" fill="#fff" />
      <path d="M7 4h4v3H7zM11 8h4v3h-4zM7 12h4v3H7z" fill="#10202a" />
      <path d="M1 15.5c2-1.6 4-1.6 6 0s4 1.6 6 0 4-1.6 6 0l2 1V21H1z" fill="#3fb8c4" opacity=".92" />
    </svg>
  );
}

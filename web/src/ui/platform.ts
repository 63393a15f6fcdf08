/** Whether the keyboard has ⌘ where others have Ctrl. */
export function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}

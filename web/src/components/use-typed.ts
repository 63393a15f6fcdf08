import { useEffect, useEffectEvent, useState } from "react";

const PAUSE_MS = 200;

/**
 * A text that is typed and lives in the address: shown at once, handed on after a short pause. What the address says otherwise
 * (back, a link) wins.
 */
export function useTyped(value: string, onChange: (value: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  if (seen !== value) {
    setSeen(value);
    setTyped(value);
  }
  const hand = useEffectEvent(onChange);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => hand(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return [typed, setTyped];
}

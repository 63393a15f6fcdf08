import { type RefObject, useEffect, useState } from "react";

/** Whether the content of an element is wider or higher than the element. */
export function useOverflows(element: RefObject<HTMLElement | null>): boolean {
  const [overflows, setOverflows] = useState(false);
  useEffect(() => {
    const target = element.current;
    if (target === null) return;
    const measure = () =>
      setOverflows(target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight);
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    if (target.firstElementChild !== null) observer.observe(target.firstElementChild);
    return () => observer.disconnect();
  }, [element]);
  return overflows;
}

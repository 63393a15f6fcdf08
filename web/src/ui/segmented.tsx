import { type ReactNode, useId } from "react";
import styles from "./segmented.module.css";

interface SegmentedProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly options: readonly { readonly value: T; readonly label: ReactNode; readonly disabledReason?: string }[];
  readonly size?: "normal" | "small";
}

/** One choice of a few, all in sight. Arrow keys move within. */
export function Segmented<T extends string>({ label, value, onChange, options, size = "normal" }: SegmentedProps<T>) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label} className={styles.group} data-size={size}>
      {options.map((option) => (
        <label key={option.value} className={styles.option} title={option.disabledReason}>
          <input
            type="radio"
            className={styles.input}
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={option.disabledReason !== undefined}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </div>
  );
}

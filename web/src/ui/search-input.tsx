import { useRef } from "react";
import { IconButton } from "./button";
import { useHotkeys } from "./hotkeys";
import { Icon } from "./icon";
import { Kbd } from "./kbd";
import styles from "./search-input.module.css";

interface SearchInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  /** "/" jumps here; for the one search of a page. */
  readonly slash?: boolean;
}

export function SearchInput({ label, value, onChange, placeholder, slash = false }: SearchInputProps) {
  const input = useRef<HTMLInputElement>(null);
  useHotkeys(slash ? [{ keys: "/", label: "Search", group: "Page", run: () => input.current?.focus() }] : []);
  return (
    <span className={styles.field}>
      <Icon name="search" size={14} />
      <input
        ref={input}
        type="search"
        className={styles.input}
        aria-label={label}
        placeholder={placeholder ?? label}
        value={value}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" || event.key === "ArrowDown") {
            // To what was found; the keys of the list go on from there.
            event.preventDefault();
            input.current?.closest("main")?.querySelector<HTMLElement>("[data-row-id]")?.focus();
            return;
          }
          if (event.key !== "Escape") return;
          // The first Escape empties the field, the next one leaves it.
          event.preventDefault();
          if (value === "") input.current?.blur();
          else onChange("");
        }}
      />
      {value === "" ? (
        slash && <Kbd keys="/" />
      ) : (
        <IconButton
          icon="close"
          size="small"
          label={`Clear: ${label}`}
          onClick={() => {
            onChange("");
            input.current?.focus();
          }}
        />
      )}
    </span>
  );
}

import { useEffect, useId, useMemo, useRef, useState } from "react";
import { bestMatches } from "~/lib/match";
import styles from "./command-palette.module.css";
import { useModalDialog } from "./dialog";
import { Icon } from "./icon";
import { Kbd } from "./kbd";

export interface Command {
  readonly id: string;
  readonly label: string;
  /** Pages, Tables, Actions … */
  readonly group: string;
  /** Grey, beside the label; searched as well. */
  readonly hint?: string;
  readonly keys?: string;
  readonly run: () => void;
}

interface CommandPaletteProps {
  readonly commands: readonly Command[];
  readonly onClose: () => void;
  /** For lists that the server searches (tables): told at each change of the text. */
  readonly onType?: (typed: string) => void;
  readonly searching?: boolean;
}

const MOST = 40;

/** Everything by its name: type, arrows, Enter. */
export function CommandPalette({ commands, onClose, onType, searching }: CommandPaletteProps) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const dialog = useModalDialog(onClose);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const groups = useMemo(() => groupMatches(commands, typed), [commands, typed]);
  const flat = groups.flatMap((group) => group.commands);
  const chosen = flat[Math.min(at, flat.length - 1)];
  const optionId = (command: Command) => `${listId}-${command.id}`;

  useEffect(() => {
    if (chosen !== undefined)
      list.current?.querySelector(`[data-id="${CSS.escape(chosen.id)}"]`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    command.run();
  };

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is on the shade; Escape does the same.
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-label="Search or jump to"
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div className={styles.search}>
        <Icon name="search" />
        <input
          className={styles.input}
          type="text"
          role="combobox"
          aria-label="Search pages, tables and actions"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={chosen === undefined ? undefined : optionId(chosen)}
          autoComplete="off"
          spellCheck={false}
          placeholder="Search or jump to…"
          autoFocus
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
            onType?.(event.target.value);
          }}
          onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (step !== undefined && flat.length > 0) {
              event.preventDefault();
              setAt((Math.min(at, flat.length - 1) + step + flat.length) % flat.length);
            } else if (event.key === "Enter") {
              event.preventDefault();
              run(chosen);
            }
          }}
        />
        <Kbd keys="Escape" />
      </div>
      <div ref={list} id={listId} role="listbox" aria-label="Results" className={styles.list}>
        {groups.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options, not of form fields.
          <div key={group.name} role="group" aria-label={group.name}>
            <div className={styles.group} aria-hidden="true">
              {group.name}
            </div>
            {group.commands.map((command) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: Enter is handled in the field.
              // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field (aria-activedescendant).
              <div
                key={command.id}
                id={optionId(command)}
                data-id={command.id}
                role="option"
                aria-selected={command === chosen}
                className={styles.item}
                onMouseMove={() => setAt(flat.indexOf(command))}
                onClick={() => run(command)}
              >
                <span className={styles.label}>{command.label}</span>
                {command.hint !== undefined && <span className={styles.hint}>{command.hint}</span>}
                {command.keys !== undefined && (
                  <span className={styles.end}>
                    <Kbd keys={command.keys} />
                  </span>
                )}
              </div>
            ))}
          </div>
        ))}
        {flat.length === 0 && (
          <p className={styles.none} role="status">
            {searching ? "Searching…" : `Nothing is called “${typed}”`}
          </p>
        )}
      </div>
      <div className={styles.foot} aria-hidden="true">
        <span>
          <Kbd keys="ArrowUp" />
          <Kbd keys="ArrowDown" /> choose
        </span>
        <span>
          <Kbd keys="Enter" /> open
        </span>
      </div>
    </dialog>
  );
}

function groupMatches(commands: readonly Command[], typed: string) {
  const matches = bestMatches(commands, typed, (command) => `${command.label} ${command.hint ?? ""}`, MOST);
  const groups = new Map<string, Command[]>();
  for (const command of matches) {
    const group = groups.get(command.group);
    if (group === undefined) groups.set(command.group, [command]);
    else group.push(command);
  }
  return [...groups].map(([name, members]) => ({ name, commands: members }));
}

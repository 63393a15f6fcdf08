import { Dialog } from "./dialog";
import styles from "./help-sheet.module.css";
import { useActiveHotkeys } from "./hotkeys";
import { Kbd } from "./kbd";

/** The keys that act on this page now. */
export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
  const hotkeys = useActiveHotkeys();
  const groups = [...new Set(hotkeys.map((hotkey) => hotkey.group))];
  return (
    <Dialog title="Keys on this page" onClose={onClose} size="normal">
      <div className={styles.groups}>
        {groups.map((group) => (
          <section key={group} className={styles.group}>
            <h3>{group}</h3>
            {hotkeys
              .filter((hotkey) => hotkey.group === group)
              .map((hotkey) => (
                <div key={hotkey.keys} className={styles.row}>
                  <span>{hotkey.label}</span>
                  <Kbd keys={hotkey.keys} />
                </div>
              ))}
          </section>
        ))}
      </div>
    </Dialog>
  );
}

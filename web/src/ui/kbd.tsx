import { classes } from "~/lib/classes";
import { keyCaps } from "~/lib/hotkey";
import styles from "./kbd.module.css";
import { isApple } from "./platform";

/** Draws keys given as "mod+k", "g c", "?". */
export function Kbd({ keys, onRail }: { readonly keys: string; readonly onRail?: boolean }) {
  return (
    <span className={classes(styles.keys, onRail && styles["on-rail"])}>
      {keyCaps(keys, isApple()).map((cap, index) => (
        <kbd key={index} className={styles.key}>
          {cap.length === 1 && index > 0 && keys.includes("mod") ? cap.toUpperCase() : cap}
        </kbd>
      ))}
    </span>
  );
}

import { Announcer } from "~/ui/announce";
import { useHotkeys } from "~/ui/hotkeys";
import { PageTitle } from "~/ui/page-title";
import { Segmented } from "~/ui/segmented";
import { themeStore } from "~/ui/theme-choice";
import { Toasts } from "~/ui/toast";
import { useStore } from "~/ui/use-store";
import styles from "./gallery.module.css";
import { Lists } from "./lists";
import { Signs } from "./signs";
import { Surfaces } from "./surfaces";

/** All parts in all their states, to be looked at and to be tested. Not in the product. */
export default function Gallery() {
  const choice = useStore(themeStore);
  const choose = themeStore.set;
  useHotkeys([
    { keys: "t", label: "Next theme", group: "Gallery", run: () => choose(choice === "dark" ? "light" : "dark") },
  ]);
  return (
    <main className={styles.page}>
      <PageTitle
        sub="Made-up data"
        actions={
          <Segmented
            label="Theme"
            size="small"
            value={choice}
            onChange={choose}
            options={[
              { value: "auto", label: "Auto" },
              { value: "light", label: "Light" },
              { value: "dark", label: "Dark" },
            ]}
          />
        }
      >
        Gallery: every part in every state
      </PageTitle>
      <Lists />
      <Signs />
      <Surfaces />
      <Announcer />
      <Toasts />
    </main>
  );
}

import { useSyncExternalStore } from "react";
import { createKeptStore } from "~/lib/store";
import { useStore } from "./use-store";

export const THEME_CHOICES = ["auto", "light", "dark"] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];

/** What the person chose; boot.js reads the same key before the first paint. */
export const themeStore = createKeptStore<ThemeChoice>("pegel.theme", "auto", (raw) =>
  THEME_CHOICES.find((choice) => choice === raw),
);

const systemDark = () => window.matchMedia("(prefers-color-scheme: dark)");

function subscribeSystem(listener: () => void): () => void {
  const query = systemDark();
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

/** The theme in force. */
export function useTheme(): "light" | "dark" {
  const choice = useStore(themeStore);
  const dark = useSyncExternalStore(subscribeSystem, () => systemDark().matches);
  return choice === "auto" ? (dark ? "dark" : "light") : choice;
}

/** Keeps the document in the theme in force; called once, before the first render. */
export function applyTheme(): void {
  const apply = () => {
    const choice = themeStore.get();
    const dark = choice === "dark" || (choice === "auto" && systemDark().matches);
    document.documentElement.dataset.mantineColorScheme = dark ? "dark" : "light";
  };
  themeStore.subscribe(apply);
  systemDark().addEventListener("change", apply);
  apply();
}

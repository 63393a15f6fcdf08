// Sets the theme before the first paint. A classic script file in the head; keep it without imports and tiny. The rest of the
// story is in ui/theme-choice.ts.
(() => {
  let choice = null;
  try {
    choice = JSON.parse(localStorage.getItem("pegel.theme"));
  } catch {
    // Storage is blocked or holds nonsense: follow the system.
  }
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.mantineColorScheme = dark ? "dark" : "light";
})();

import { describe, expect, it } from "vitest";
import { keyCaps, matchKeys, pressName } from "./hotkey";

const press = (
  key: string,
  modifiers: Partial<Record<"ctrlKey" | "metaKey" | "altKey" | "shiftKey", boolean>> = {},
) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...modifiers,
});

describe("keys", () => {
  it.each([
    [press("k", { ctrlKey: true }), "mod+k"],
    [press("K", { metaKey: true, shiftKey: true }), "mod+k"],
    [press("?", { shiftKey: true }), "?"],
    [press("ArrowUp", { shiftKey: true }), "shift+ArrowUp"],
    [press("ArrowLeft", { altKey: true }), "alt+ArrowLeft"],
  ])("%j", (event, name) => {
    expect(pressName(event)).toBe(name);
  });

  it("pairs need their first key and win over singles", () => {
    const bindings = new Map([
      ["g c", "clusters"],
      ["c", "copy"],
      ["mod+k", "palette"],
    ]);
    expect(matchKeys(bindings, undefined, press("g"))).toEqual({ pending: "g" });
    expect(matchKeys(bindings, "g", press("c"))).toEqual({ found: "clusters" });
    expect(matchKeys(bindings, undefined, press("c"))).toEqual({ found: "copy" });
    expect(matchKeys(bindings, "g", press("x"))).toBeUndefined();
    expect(matchKeys(bindings, undefined, press("k"))).toBeUndefined();
  });

  it("are drawn as on the keyboard at hand", () => {
    expect(keyCaps("mod+k", true)).toEqual(["⌘", "k"]);
    expect(keyCaps("mod+Enter", false)).toEqual(["Ctrl", "↵"]);
    expect(keyCaps("g c", false)).toEqual(["g", "c"]);
  });
});

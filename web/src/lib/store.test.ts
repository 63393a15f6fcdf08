// @vitest-environment happy-dom
import { describe, expect, it, vi } from "vitest";
import { createKeptStore, createStore } from "./store";

const text = (raw: unknown) => (typeof raw === "string" ? raw : undefined);

describe("stores", () => {
  it("tells listeners of changes only", () => {
    const store = createStore(1);
    const listener = vi.fn();
    const stop = store.subscribe(listener);
    store.set(1);
    store.set((before) => before + 1);
    stop();
    store.set(9);
    expect(listener).toHaveBeenCalledTimes(1);
    expect(store.get()).toBe(9);
  });

  it("a kept value comes back and nonsense does not", () => {
    localStorage.setItem("a", '"UTC"');
    localStorage.setItem("b", "{broken");
    localStorage.setItem("c", "5");
    expect(createKeptStore("a", "local", text).get()).toBe("UTC");
    expect(createKeptStore("b", "local", text).get()).toBe("local");
    expect(createKeptStore("c", "local", text).get()).toBe("local");
  });

  it("works without storage", () => {
    const broken = {
      getItem: () => {
        throw new Error("denied");
      },
      setItem: () => {
        throw new Error("denied");
      },
    };
    const store = createKeptStore("a", "local", text, broken as unknown as Storage);
    store.set("UTC");
    expect(store.get()).toBe("UTC");
  });
});

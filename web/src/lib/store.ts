// One value that several parts of the page share, with listeners. React reads it through useSyncExternalStore.

export interface Store<T> {
  get(): T;
  set(next: T | ((before: T) => T)): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      const after = typeof next === "function" ? (next as (before: T) => T)(value) : next;
      if (Object.is(after, value)) return;
      value = after;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Keeps the value under a key of the browser's storage. Storage that is full, blocked or holds nonsense is no error. */
export function createKeptStore<T>(
  key: string,
  initial: T,
  read: (raw: unknown) => T | undefined,
  storage?: Storage,
): Store<T> {
  const kept = storage ?? browserStorage();
  const store = createStore(readKept(kept, key, read) ?? initial);
  store.subscribe(() => {
    try {
      kept?.setItem(key, JSON.stringify(store.get()));
    } catch {
      // The choice then lasts for this visit only.
    }
  });
  return store;
}

function readKept<T>(storage: Storage | undefined, key: string, read: (raw: unknown) => T | undefined): T | undefined {
  try {
    const text = storage?.getItem(key);
    return text === null || text === undefined ? undefined : read(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function browserStorage(): Storage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

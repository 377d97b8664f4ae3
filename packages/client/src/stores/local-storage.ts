/** Returns the browser's `localStorage`; undefined if there is none, or if the browser blocks site data. */
export function localStorageIfAny(): Storage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

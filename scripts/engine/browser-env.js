// In place of the engine's access to globals, which throws where the browser allows no site data.

export function getBrowserGlobal(name) {
  try {
    return globalThis[name];
  } catch {
    return undefined;
  }
}

/** The engine's own store in IndexedDB would use it; the client brings another. */
export function mustGetBrowserGlobal() {
  throw new Error('The engine has no stores of its own');
}

// Replaces the engine's access to globals, which throws in browsers that allow no site data.

export function getBrowserGlobal(name) {
  try {
    return globalThis[name];
  } catch {
    return undefined;
  }
}

/** Only the engine's own IndexedDB store would use it, which the client replaces. */
export function mustGetBrowserGlobal() {
  throw new Error('The engine has no stores of its own');
}

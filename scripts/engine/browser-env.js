// In place of the engine's access to globals, which throws where the browser allows no site data.

export function getBrowserGlobal(name) {
  try {
    return globalThis[name];
  } catch {
    return undefined;
  }
}

/** Of stores in IndexedDB, which are our own. */
export const mustGetBrowserGlobal = getBrowserGlobal;

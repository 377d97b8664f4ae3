/** The longest time for which work may block the page's thread, in milliseconds. */
const maxTurnMs = 50;

/** The time at which work began in this turn of the page's thread; undefined if none has. */
let since;

/**
 * Called between the steps of long work. If the current turn has been long, waits for another one, so that other tasks
 * of the page can run. Short work is done in one turn.
 * @param open The store transaction of the work, if any. IndexedDB would end it in a turn without a request to it.
 */
export async function nextTurn(open) {
  if (since === undefined) {
    since = performance.now();
    setTimeout(forget);
  } else if (performance.now() - since >= maxTurnMs) {
    await (open ? open.has('') : new Promise((resolve) => setTimeout(resolve)));
    forget();
  }
}

function forget() {
  since = undefined;
}

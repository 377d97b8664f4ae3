/** The longest time, in milliseconds, for which the page's thread is kept. */
const maxTurnMs = 50;

/** When work began in this turn of the page's thread; undefined if none has. */
let since;

/**
 * Called between the steps of long work: waits for another turn if this one has been long, so that other tasks of the page
 * get theirs. Short work is done in one turn.
 * @param open the transaction of a store in which the work is done, if there is one. IndexedDB would end it in a turn in
 * which nothing is asked of it.
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

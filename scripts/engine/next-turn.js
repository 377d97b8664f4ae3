/** The longest time, in milliseconds, for which the page's thread is kept. */
const maxTurnMs = 50;

let since = Number.NEGATIVE_INFINITY;

/**
 * Called between the steps of long work: waits for another turn if this one has been long, so that other tasks of the page
 * get theirs.
 * @param open the transaction of a store in which the work is done, if there is one. IndexedDB would end it in a turn in
 * which nothing is asked of it.
 */
export async function nextTurn(open) {
  if (performance.now() - since < maxTurnMs) return;
  await (open ? open.has('') : new Promise((resolve) => setTimeout(resolve)));
  since = performance.now();
}

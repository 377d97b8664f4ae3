/**
 * Does work again and again, with a pause after each time.
 * @param onFailure called when the work fails; it is done again all the same
 * @returns a function that ends this: the work is not begun again
 */
export function repeat(work: () => Promise<unknown>, pauseMs: number, onFailure: (error: unknown) => void): () => void {
  let timer: NodeJS.Timeout;
  let hasEnded = false;
  const wait = (): void => {
    if (hasEnded) return;
    timer = setTimeout(() => void work().catch(onFailure).finally(wait), pauseMs).unref();
  };
  wait();
  return () => {
    hasEnded = true;
    clearTimeout(timer);
  };
}

/**
 * Runs work repeatedly, with a pause before each run.
 * @param onFailure called when a run fails, after which the repetition continues
 * @returns a function that ends the repetition: no further run starts
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

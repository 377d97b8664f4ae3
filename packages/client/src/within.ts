/** Returns the error for a result that did not arrive in time. */
export function timeoutError(ms: number): Error {
  // Not a DOMException: React Native has none.
  return Object.assign(new Error(`Nothing came for ${ms / 1000} seconds`), { name: 'TimeoutError' });
}

/**
 * Waits a limited time for a result.
 * @throws Error named `TimeoutError` if the result does not arrive in time
 */
export async function within<Result>(result: Promise<Result>, ms: number): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError(ms)), ms);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}

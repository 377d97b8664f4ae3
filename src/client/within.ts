/** The error of what has not come in time. */
export function timeoutError(ms: number): Error {
  // Not a DOMException: React Native has none.
  return Object.assign(new Error(`Nothing came for ${ms / 1000} seconds`), { name: 'TimeoutError' });
}

/**
 * Limits how long a result is waited for.
 * @throws Error named `TimeoutError` if the result does not come in time
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

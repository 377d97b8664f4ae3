import type { Caller } from '../http/identify.js';
import type { Semaphore } from '../limits/semaphore.js';

/**
 * Acquires a permit, opens something, and releases the permit when that is closed.
 * @throws as `Semaphore.acquire`, and what `open` throws
 */
export async function openWithPermit<T extends { close(): Promise<void> }>(
  semaphore: Semaphore,
  { context, request }: Caller,
  open: () => Promise<T>,
): Promise<T> {
  const release = await semaphore.acquire(context.userID, request);
  try {
    const opened = await open();
    return { ...opened, close: () => opened.close().finally(release) };
  } catch (error) {
    release();
    throw error;
  }
}

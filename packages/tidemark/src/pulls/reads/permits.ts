/** Work that needs a permit, because it takes a connection. */
import type { Database, Statement } from '../../db/database.js';
import type { Caller } from '../../http/identify.js';
import type { Semaphore } from '../../limits/semaphore.js';

/**
 * Acquires a permit, opens something, and releases the permit when that is closed.
 * @throws as `Semaphore.acquire`, and what `open` throws
 */
export async function openWithPermit<T extends { close(): Promise<void> }>(
  semaphore: Semaphore,
  { context, request }: Pick<Caller, 'context' | 'request'>,
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

/** Returns a database whose queries wait for a permit. They serve several users, so they count for none of them. */
export function throttleQueries(semaphore: Semaphore, db: Database): Database {
  return { ...db, query: <Row>(statement: Statement) => semaphore.run(undefined, () => db.query<Row>(statement)) };
}

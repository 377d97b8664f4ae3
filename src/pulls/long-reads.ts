import type { Caller } from '../http/identify.js';
import type { Gate } from '../limits/gate.js';

/**
 * Opens something in a place, which is given back when it is closed.
 * @throws as `Gate.enter`, and what `open` throws
 */
export async function openInPlace<T extends { close(): Promise<void> }>(
  gate: Gate,
  { context, signal }: Caller,
  open: () => Promise<T>,
): Promise<T> {
  const leave = await gate.enter(context.userID, signal);
  try {
    const opened = await open();
    return { ...opened, close: () => opened.close().finally(leave) };
  } catch (error) {
    leave();
    throw error;
  }
}

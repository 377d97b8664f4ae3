import type { Status } from './status.js';

/** True if a client in this state may still get an answer from the server. */
export function mayGetAnswer({ state }: Pick<Status, 'state'>): boolean {
  return state === 'connecting' || state === 'online';
}

import { randomUUID } from 'node:crypto';
import type { Notification, Pool } from 'pg';
import { type Checkout, checkOut } from './checkout.js';

const retryMs = 1_000;
/** How long a notification may take that was sent for a trial, in milliseconds. */
const trialMs = 5_000;

/**
 * `Database.listen`: holds a connection of the pool, and takes another one if it is lost. The channel's name must need
 * no quoting. Each connection is tried: through some poolers, a server listens whose notifications nobody gets.
 */
export function listenTo(pool: Pool, channel: string, onNotice: () => void, onDeaf: () => void): () => void {
  const trial = randomUUID();
  let stopped = false;
  let held: Checkout | undefined;
  let heard = false;
  let timer: NodeJS.Timeout | undefined;

  const onNotification = ({ payload }: Notification) => {
    // With a payload it is a trial, perhaps that of another server.
    if (!payload) return onNotice();
    if (payload !== trial) return;
    heard = true;
    clearTimeout(timer);
  };
  const letGo = () => {
    held?.client.off('notification', onNotification);
    held?.client.off('end', lose);
    held?.release(true);
    held = undefined;
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
    letGo();
  };
  const lose = () => {
    letGo();
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(connect, retryMs).unref();
  };
  /** Notifies the connection from another one: what a connection sends itself comes back with its answer. */
  const tryOut = async (listening: Checkout) => {
    heard = false;
    await pool.query('select pg_notify($1, $2)', [channel, trial]);
    if (heard || listening !== held) return;
    timer = setTimeout(() => {
      stop();
      onDeaf();
    }, trialMs).unref();
  };
  const connect = async () => {
    try {
      held = await checkOut(pool);
      if (stopped) return letGo();
      held.client.on('notification', onNotification);
      held.client.once('end', lose);
      await held.client.query(`listen ${channel}`);
      onNotice();
      // That it could not be sent says nothing.
      tryOut(held).catch(() => {});
    } catch {
      lose();
    }
  };
  connect();
  return stop;
}

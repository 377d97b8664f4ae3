import type { Pool } from 'pg';
import { type Checkout, checkOut } from './checkout.js';

const retryMs = 1_000;

/**
 * `Database.listen`: holds a connection of the pool, and takes another one if it is lost. The channel's name must need
 * no quoting.
 */
export function listenTo(pool: Pool, channel: string, onNotice: () => void): () => void {
  let stopped = false;
  let held: Checkout | undefined;
  let timer: NodeJS.Timeout | undefined;

  const letGo = () => {
    held?.client.off('notification', onNotice);
    held?.client.off('end', lose);
    held?.release(true);
    held = undefined;
  };
  const lose = () => {
    letGo();
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(connect, retryMs).unref();
  };
  const connect = async () => {
    try {
      held = await checkOut(pool);
      if (stopped) return letGo();
      held.client.on('notification', onNotice);
      held.client.once('end', lose);
      await held.client.query(`listen ${channel}`);
      onNotice();
    } catch {
      lose();
    }
  };
  connect();
  return () => {
    stopped = true;
    clearTimeout(timer);
    letGo();
  };
}

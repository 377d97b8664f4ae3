import { randomUUID } from 'node:crypto';
import type { Notification, Pool } from 'pg';
import { type Checkout, checkOut } from './checkout.js';

const retryMs = 1_000;
/** The maximum time for a test notification to arrive, in milliseconds. */
const trialMs = 5_000;

/**
 * Implements `Database.listen`: holds a connection of the pool, and takes another one if it is lost. The channel's name
 * must not need quoting. Tests each connection, because some poolers accept LISTEN but deliver no notifications.
 */
export function listenTo(pool: Pool, channel: string, onNotice: () => void, onUndelivered: () => void): () => void {
  const trial = randomUUID();
  let stopped = false;
  let checkout: Checkout | undefined;
  let wasNotified = false;
  let timer: NodeJS.Timeout | undefined;

  const onNotification = ({ payload }: Notification) => {
    // A notification with a payload is a test, perhaps another server's.
    if (!payload) return onNotice();
    if (payload !== trial) return;
    wasNotified = true;
    clearTimeout(timer);
  };
  const letGo = () => {
    checkout?.client.off('notification', onNotification);
    checkout?.client.off('end', lose);
    checkout?.release(true);
    checkout = undefined;
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
  /** Sends the test from another connection: a connection's notification to itself arrives with its own response. */
  const tryOut = async (candidate: Checkout) => {
    wasNotified = false;
    await pool.query('select pg_notify($1, $2)', [channel, trial]);
    if (wasNotified || candidate !== checkout) return;
    timer = setTimeout(() => {
      stop();
      onUndelivered();
    }, trialMs).unref();
  };
  const connect = async () => {
    try {
      checkout = await checkOut(pool);
      if (stopped) return letGo();
      checkout.client.on('notification', onNotification);
      checkout.client.once('end', lose);
      await checkout.client.query(`listen ${channel}`);
      onNotice();
      // A failure to send the test proves nothing.
      tryOut(checkout).catch(() => {});
    } catch {
      lose();
    }
  };
  connect();
  return stop;
}

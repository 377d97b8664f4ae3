/** The standby of a run. */
import type { Replication, ReplicationOptions } from '../../support/replication.js';
import type { Standby } from './wants.js';

/** Replays each commit after a while. */
export const laggingStandby: ReplicationOptions = { delays: [200], waitsFor: 'nobody' };

/** Returns the copy of a database on the standby. */
export function standbyOf({ standbys, caughtUp }: Replication, url: string): Standby {
  const address = new URL(standbys[0]!.url);
  address.pathname = new URL(url).pathname;
  return { url: address.href, caughtUp };
}

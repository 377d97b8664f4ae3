/** The failovers in docs/operations/failovers.md. Each is carried out, and must reset the clients in the table. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { migrate } from '../../packages/tidemark/src/migrate.js';
import { startAlone, write, writeHeartbeat } from '../integration/pulls/failing-over.js';
import { silent } from '../support/log.js';
import { type Replication, startReplication } from '../support/replication.js';
import { fullRead, PullServer, SyncClient, wholeTable } from '../support/synced.js';

const views = wholeTable('item');
const insert = (id: string) => `insert into item values ('${id}')`;

/** The state before the event. `early` and `late` have pulled, and both standbys show what they have seen. */
interface Before {
  readonly replication: Replication;
  /** Writes a row to the primary, and `ahead` pulls it. */
  readonly newest: () => Promise<void>;
  /** Makes all clients pull, without checking the results. */
  readonly pull: (url: string) => Promise<void>;
}

type Event = readonly [what: string, bringAbout: (before: Before) => Promise<string>];

/** Each returns the database that clients use afterwards. */
const events: readonly Event[] = [
  [
    'A standby that has everything is promoted',
    async ({ replication, newest }) => {
      const [standby] = replication.standbys;
      await newest();
      await replication.caughtUp();
      await standby!.promote();
      return standby!.url;
    },
  ],
  [
    'Its own standby is promoted after it, and has everything, too',
    async ({ replication, newest, pull }) => {
      const [standby, other] = replication.standbys;
      await newest();
      await replication.caughtUp();
      await standby!.promote();
      await pull(standby!.url);
      await other!.follow(standby!);
      const [row] = await write(standby!.url, insert('after'), 'select pg_current_wal_flush_lsn()::text as lsn');
      await other!.reaches(String(row!.lsn));
      await other!.promote();
      return other!.url;
    },
  ],
  [
    'A standby that lacks the newest row is promoted',
    async ({ replication, newest }) => {
      const [standby] = replication.standbys;
      await standby!.stop();
      await newest();
      await replication.stopPrimary();
      await startAlone(standby!);
      await standby!.promote();
      return standby!.url;
    },
  ],
  [
    'A standby is promoted, and crashes before a server has connected',
    async ({ replication, newest }) => {
      const [standby] = replication.standbys;
      await newest();
      await replication.caughtUp();
      await standby!.promote();
      await write(standby!.url, insert('after'), 'checkpoint');
      await standby!.kill();
      return standby!.url;
    },
  ],
  [
    'A backup is restored that lacks the newest row',
    async ({ replication, newest }) => {
      const [standby] = replication.standbys;
      await standby!.restore(join(replication.dataDirectory, 'pg_wal'));
      await newest();
      return standby!.url;
    },
  ],
  [
    'Clients go back to the old primary, which has gone on by itself',
    async ({ replication, newest, pull }) => {
      const [standby] = replication.standbys;
      await newest();
      await replication.caughtUp();
      await standby!.promote();
      await write(standby!.url, insert('there alone'));
      await pull(standby!.url);
      await write(replication.primaryURL, insert('here alone'));
      return replication.primaryURL;
    },
  ],
  [
    '`update tidemark.meta set install_id = gen_random_uuid()`',
    async ({ replication, newest }) => {
      await newest();
      await write(replication.primaryURL, 'update tidemark.meta set install_id = gen_random_uuid()');
      return replication.primaryURL;
    },
  ],
];

const page = await readFile(new URL('../../docs/operations/failovers.md', import.meta.url), 'utf8');
const [, section = ''] = page.split('| What happens to the database | Reset |');
const [table = ''] = section.split('\n\n');
const rows = new Map([...table.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].map(([, what, clients]) => [what!, clients!]));
rows.delete('---');

it('the table in docs/operations/failovers.md lists all events', () => {
  expect([...rows.keys()]).toEqual(events.map(([what]) => what));
});

it.each(events)(
  '%s',
  async (what, bringAbout) => {
    const replication = await startReplication({ delays: [0, 0], waitsFor: '' });
    const servers: PullServer[] = [];
    const serverOn = (url: string) => {
      const server = new PullServer(url, views);
      servers.push(server);
      return server;
    };
    try {
      const { primaryURL } = replication;
      await write(primaryURL, 'create table item (id text primary key)');
      await migrate({ database: primaryURL, views, log: silent });
      const onPrimary = serverOn(primaryURL);
      const clients = {
        early: new SyncClient(onPrimary),
        late: new SyncClient(onPrimary),
        ahead: new SyncClient(onPrimary),
      };
      await write(primaryURL, insert('first'));
      await clients.early.pull();
      await writeHeartbeat(primaryURL);
      await write(primaryURL, insert('second'));
      await clients.late.pull();
      await replication.caughtUp();
      const url = await bringAbout({
        replication,
        newest: async () => {
          await write(primaryURL, insert('newest'));
          await clients.ahead.pull();
        },
        pull: async (from) => {
          const server = serverOn(from);
          for (const client of Object.values(clients)) await client.pull(server);
        },
      });
      const server = serverOn(url);
      const reset: string[] = [];
      for (const [name, client] of Object.entries(clients)) {
        const { patch } = await client.pull(server);
        if (patch[0]?.op === 'clear') reset.push(`\`${name}\``);
        expect(client.held()).toEqual(await fullRead(server));
      }
      expect(reset.join(', ') || 'nobody').toBe(rows.get(what));
    } finally {
      for (const server of servers) await server.close();
      await replication.stop();
    }
  },
  200_000,
);

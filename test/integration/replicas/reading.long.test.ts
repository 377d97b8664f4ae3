/** Pulls and reads from standbys: what they show, and what happens when standbys lag, fail and change. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { assign } from '../../../packages/tidemark/src/replicas/assignment.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { createEmptyDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { type Replication, type Standby, startReplication } from '../../support/replication.js';
import { type PullAnswer, wholeTable } from '../../support/synced.js';
import { ReadingServer } from './reading.js';

const views = wholeTable('item');

let replication: Replication;
let standbys: readonly [Standby, Standby];
let writer: pg.Client;
let server: ReadingServer;
let other: ReadingServer;

beforeAll(async () => {
  replication = await startReplication({ delays: [0, 0], waitsFor: 'nobody' });
  standbys = replication.standbys as [Standby, Standby];
  writer = new pg.Client(replication.primaryURL);
  writer.on('error', () => {});
  await writer.connect();
  await writer.query('create table item (id text primary key, n int); create table elsewhere (id text)');
  await migrate({ database: replication.primaryURL, views, log: silent });
  await replication.caughtUp();
  const start = () =>
    ReadingServer.start(
      replication.primaryURL,
      standbys.map(({ url }) => url),
      { views, metrics: 'public', pokes: { intervalMs: 20 } },
    );
  [server, other] = await Promise.all([start(), start()]);
}, 200_000);

afterAll(async () => {
  await server.close();
  await other.close();
  await writer.end();
  await replication.stop();
});

beforeEach(async () => {
  await writer.query('delete from item');
  await replication.caughtUp();
});

afterEach(async () => {
  for (const standby of standbys) await standby.resume();
  await replication.caughtUp();
  await expect.poll(() => server.usage()).toEqual(allUsed());
  await expect.poll(() => other.usage()).toEqual(allUsed());
});

const nameOf = ({ url }: Standby) => new URL(url).host;
const allUsed = () => Object.fromEntries(standbys.map((standby) => [nameOf(standby), true]));
const pauseAll = async () => void (await Promise.all(standbys.map((standby) => standby.pause())));

/** Discards the statements recorded so far. */
function forget(): void {
  for (const name of ['primary', 'standby 0', 'standby 1']) server.takeStatements(name);
}

/** A client group that reads from this standby while both are used. */
function groupOf(standby: Standby): string {
  const named = standbys.map((one) => ({ one, name: nameOf(one) }));
  for (;;) {
    const group = server.newGroup();
    if (assign(`group ${group}`, named)!.one === standby) return group;
  }
}

const many = 200_000;

/** The patch of a first pull from the first standby, during which `happen` runs. */
async function patchDuring(happen: () => Promise<unknown>): Promise<PullAnswer['patch']> {
  await writer.query(`insert into item select 'row ' || n, n from generate_series(1, ${many}) n`);
  await replication.caughtUp();
  const group = groupOf(standbys[0]);
  const reader = (await server.answer(null, group)).body!.getReader();
  const chunks = [(await reader.read()).value!];
  await happen();
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  const { patch, cookie } = JSON.parse(Buffer.concat(chunks).toString()) as PullAnswer;
  expect((await server.pull(cookie, group)).patch).toEqual([]);
  return patch;
}

/** True for a statement that reads a view's rows, on either standby or on the primary. */
const isRead = (text: string) => /^(copy|tidemark_delta)/i.test(text);
const reads = (name: string) => server.takeStatements(name).filter(isRead);
/** The number of polls since the previous statements were taken. */
const polls = (name: string) =>
  server.takeStatements(name).filter((text) => text.startsWith('tidemark_poll_if_changed')).length;

async function write(...ids: string[]): Promise<void> {
  await writer.query('insert into item select id, 1 from unnest($1::text[]) id', [ids]);
}

describe('in a cluster that keeps up', () => {
  it('no rows are read from the primary', async () => {
    await write('a');
    await replication.caughtUp();
    forget();
    const groups = Array.from({ length: 20 }, () => server.newGroup());
    const first = await Promise.all(groups.map((group) => server.pull(null, group)));
    await write('b');
    await replication.caughtUp();
    const second = await Promise.all(groups.map((group, i) => server.pull(first[i]!.cookie, group)));
    expect(second.map(({ patch }) => patch)).toEqual(
      groups.map(() => [{ op: 'put', key: 'b', value: { id: 'b', n: 1 } }]),
    );
    expect(reads('primary')).toEqual([]);
    expect(reads('standby 0').length).toBeGreaterThan(0);
    expect(reads('standby 1').length).toBeGreaterThan(0);
  });

  it('no rows are read from the primary for views that changed', async () => {
    let min = 1;
    const rows = sql<{ id: string }>`select id from item`;
    const mine = () => sql<{ id: string }>`select id from item where n >= ${min}`;
    const own = {
      all: defineView<{ id: string }>({ key: 'id', query: () => rows }),
      mine: defineView<{ id: string }>({ key: 'id', query: mine }),
    };
    const changing = await ReadingServer.start(
      replication.primaryURL,
      standbys.map(({ url }) => url),
      { views: own, metrics: 'public' },
    );
    try {
      await write('one');
      await writer.query(`insert into item values ('two', 2)`);
      await replication.caughtUp();
      const { cookie } = await changing.pull(null);
      min = 2;
      await write('three');
      await replication.caughtUp();
      changing.takeStatements('primary');
      const { patch } = await changing.pull(cookie);
      expect(patch).toHaveLength(2);
      expect(patch).toContainEqual({ op: 'del', key: 'mine/one' });
      expect(patch).toContainEqual({ op: 'put', key: 'all/three', value: { id: 'three' } });
      expect(changing.takeStatements('primary').filter(isRead)).toEqual([]);
    } finally {
      await changing.close();
    }
  });

  it('simultaneous pulls share polls of the primary', async () => {
    const { cookie } = await server.pull(null);
    await server.pull(cookie);
    forget();
    await Promise.all(Array.from({ length: 50 }, () => server.pull(cookie)));
    const count = polls('primary');
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(2);
  });

  it('a reader that follows a view does not wait for the primary', async () => {
    const { body } = await server.send('/api/views/whole', undefined, { Accept: 'text/event-stream' });
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    const until = async (expected: string) => {
      for (let text = ''; !text.includes(expected); ) text += (await reader.read()).value;
    };
    await until('event:');
    forget();
    await write('followed');
    await until('followed');
    expect(polls('primary')).toBe(0);
    await reader.cancel();
  });

  it('a poke arrives when a pull can show the change', async () => {
    const subscription = await server.subscribe();
    const { cookie } = await server.pull(null);
    await expect.poll(() => subscription.count).toBe(1);
    forget();
    await server.push(1, 'put', { id: 'poked', n: 1 });
    await expect.poll(() => subscription.count).toBe(2);
    const { patch } = await server.pull(cookie);
    expect(patch).toContainEqual({ op: 'put', key: 'poked', value: { id: 'poked', n: 1 } });
    expect(reads('primary')).toEqual([]);
    subscription.end();
  });
});

describe('with standbys that replay nothing', () => {
  it('a client sees its own writes through any server', async () => {
    const group = server.newGroup();
    const { cookie } = await server.pull(null, group);
    await pauseAll();
    await other.push(1, 'put', { id: 'mine', n: 1 }, group);
    const answer = await server.pull(cookie, group);
    expect(answer.lastMutationIDChanges).toEqual({ [`client of ${group}`]: 1 });
    expect(answer.patch).toContainEqual({ op: 'put', key: 'mine', value: { id: 'mine', n: 1 } });
  });

  it('a client without a cookie sees its own writes', async () => {
    const group = server.newGroup();
    await pauseAll();
    await other.push(1, 'put', { id: 'first', n: 1 }, group);
    const answer = await server.pull(null, group);
    expect(answer.lastMutationIDChanges).toEqual({ [`client of ${group}`]: 1 });
  });

  it('writes of other clients cause no reads from the primary', async () => {
    const { cookie } = await server.pull(null);
    await pauseAll();
    await write('theirs');
    forget();
    expect((await server.pull(cookie)).patch).toEqual([]);
    expect(reads('primary')).toEqual([]);
  });

  it('no client is poked before a pull can show the change', async () => {
    const subscription = await server.subscribe();
    const { cookie } = await server.pull(null);
    await pauseAll();
    const { count } = subscription;
    await other.push(1, 'put', { id: 'unseen', n: 1 }, server.newGroup());
    for (let i = 0; i < 15; i++) expect((await server.pull(cookie)).patch).toEqual([]);
    expect(subscription.count).toBe(count);
    for (const standby of standbys) await standby.resume();
    await expect.poll(() => subscription.count).toBeGreaterThan(count);
    subscription.end();
  });

  it('a client never goes back to an older state', async () => {
    const { cookie } = await server.pull(null);
    await pauseAll();
    await write('seen');
    await server.push(1, 'put', { id: 'own', n: 1 }, 'seeing');
    const ahead = await server.pull(cookie, 'seeing');
    expect(ahead.patch).toHaveLength(2);
    expect(await server.pull(ahead.cookie, 'seeing')).toMatchObject({ patch: [], cookie: ahead.cookie });
  });

  it('a read over REST shows everything committed before it', async () => {
    await pauseAll();
    await write('committed');
    const rows = await (await server.send('/api/views/whole')).json();
    expect(rows).toEqual([{ id: 'committed', n: 1 }]);
  });
});

it('metrics show the state of standbys, and how often the primary answered instead', async () => {
  const text = await server.metrics();
  for (const standby of standbys) {
    expect(text).toContain(`tidemark_standby_used{standby="${nameOf(standby)}"} 1`);
    expect(text).toContain(`tidemark_standby_lag_seconds{standby="${nameOf(standby)}"} 0`);
  }
  expect(text).toMatch(/^tidemark_standby_fallback_total\{reason="behind"\} [1-9]/m);
});

describe('a standby', () => {
  it('is excluded while it lags too much, and its subscribers are moved and poked', async () => {
    const subscription = await server.subscribe();
    await pauseAll();
    await write('late');
    await expect
      .poll(() => server.usage(), { timeout: 15_000 })
      .toEqual(Object.fromEntries(standbys.map((standby) => [nameOf(standby), false])));
    await expect.poll(() => subscription.count).toBeGreaterThanOrEqual(2);
    expect((await server.pull(null)).patch).toHaveLength(1);
    const { count } = subscription;
    await write('later');
    await expect.poll(() => subscription.count).toBeGreaterThan(count);
    for (const standby of standbys) await standby.resume();
    await expect.poll(() => server.usage()).toEqual(allUsed());
    subscription.end();
  }, 40_000);

  it('causes no errors when it is killed', async () => {
    const groups = Array.from({ length: 30 }, () => server.newGroup());
    await write(...Array.from({ length: 500 }, (_, i) => `row ${i}`));
    await replication.caughtUp();
    let isOver = false;
    const pulling = Promise.all(
      groups.map(async (group) => {
        let cookie: unknown = null;
        for (let i = 0; !isOver; i++) ({ cookie } = await server.pull(i % 5 === 0 ? null : cookie, group));
      }),
    );
    await standbys[0].kill();
    await standbys[1].stop();
    await expect.poll(() => server.usage()).toMatchObject({ [nameOf(standbys[1])]: false });
    await standbys[1].start();
    isOver = true;
    await pulling;
  }, 40_000);

  it('is replaced by the primary when it is killed in the middle of a response', async () => {
    const patch = await patchDuring(() => standbys[0].kill());
    const cleared = patch.findIndex(({ op }) => op === 'clear');
    expect(cleared).toBeGreaterThan(0);
    expect(patch.slice(cleared + 1)).toHaveLength(many);
  }, 40_000);

  it('is replaced by the primary when it cancels a query because of a recovery conflict', async () => {
    const own = new pg.Client(standbys[0].url);
    await own.connect();
    await own.query('alter system set max_standby_streaming_delay = 0');
    await own.query('select pg_reload_conf()');
    const patch = await patchDuring(async () => {
      await writer.query('alter table item alter n set not null');
      await replication.caughtUp();
    });
    const cleared = patch.findIndex(({ op }) => op === 'clear');
    expect(cleared).toBeGreaterThan(0);
    expect(patch.slice(cleared + 1)).toHaveLength(many);
    await own.query('alter system reset all');
    await own.query('select pg_reload_conf()');
    await own.end();
  }, 40_000);

  it('is excluded after its promotion until it has been rebuilt', async () => {
    const [one] = standbys;
    const { cookie } = await server.pull(null);
    await one.promote();
    const own = new pg.Client(one.url);
    await own.connect();
    await own.query(`insert into item values ('of another history', 1)`);
    await own.end();
    await expect.poll(() => server.usage()).toMatchObject({ [nameOf(one)]: false });
    for (let i = 0; i < 20; i++) expect((await server.pull(cookie, server.newGroup())).patch).toEqual([]);
    await one.rebuild();
  }, 200_000);

  it('is refused at the start if it belongs to another cluster', async () => {
    const foreign = await createEmptyDatabase();
    const starting = ReadingServer.start(replication.primaryURL, [foreign.url], { views });
    await expect(starting).rejects.toThrow('is not a standby of the database: it belongs to another cluster');
    await foreign.drop();
  });

  it('is not read from if it is the primary itself', async () => {
    const twice = await ReadingServer.start(replication.primaryURL, [replication.primaryURL], {
      views,
      metrics: 'public',
    });
    expect(Object.values(await twice.usage())).toEqual([false]);
    await write('there');
    expect((await twice.pull(null)).patch).toHaveLength(1);
    await twice.close();
  });
});

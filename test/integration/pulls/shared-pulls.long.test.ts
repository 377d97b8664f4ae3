/** Simultaneous pulls of one client view: what they share, and what they must not share. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, type PullAnswer, PullServer, tableView } from '../../support/synced.js';
import { gate, WatchedDatabase } from './watched.js';

const views: Views<Context> = {
  item: defineView<{ id: string }>({
    key: 'id',
    query: ({ ctx, profileID }) =>
      sql`select id, n from item where owner_id = ${ctx.userID} and (profile_id is null or profile_id = ${profileID})`,
  }),
  note: tableView('note', 'id', 'note/'),
};
const ddl = `
  create table item (id text primary key, owner_id text not null, profile_id text, n text not null default '0');
  create index on item (owner_id);
  create table note (id text primary key)`;

let database: TestDatabase;
let watched: WatchedDatabase;
let server: PullServer;

beforeAll(async () => {
  database = await createSynced(ddl, views);
});
afterAll(() => database.drop());

beforeEach(async () => {
  await database.pool.query(`
    delete from item; delete from note; delete from tidemark.client; delete from tidemark.client_group;
    insert into item (id, owner_id) values ('a1', 'ada'), ('a2', 'ada'), ('b1', 'ben')`);
  watched = new WatchedDatabase();
  server = new PullServer(database.url, views, watched.watch);
});
afterEach(() => server.close());

const run = (text: string) => database.pool.query(text);
const groups = (count: number) => Array.from({ length: count }, (_, i) => `group ${i}`);

/** The first pull, of a group that no other pull uses. */
async function first(userID = 'ada'): Promise<unknown> {
  const { cookie } = await server.pull(null, { clientGroupID: `first of ${userID}` }, userID);
  watched.take();
  return cookie;
}

const snapshotOf = ({ cookie }: PullAnswer) => (cookie as { snapshot: string }).snapshot;

describe('simultaneous pulls', () => {
  it('share a poll, a probe and a delta after a change, and need no probe after the next', async () => {
    let cookies = groups(200).map(() => undefined as unknown);
    cookies.fill(await first());
    for (const [n, polls] of [
      ['one', ['poll', 'probe']],
      ['two', ['poll']],
    ] as const) {
      await run(`update item set n = '${n}' where id = 'a1'`);
      const answers = await Promise.all(
        groups(200).map((clientGroupID, i) => server.pull(cookies[i], { clientGroupID })),
      );
      expect(watched.take()).toEqual([...polls, 'delta']);
      expect(new Set(answers.map(snapshotOf)).size).toBe(1);
      for (const [i, { patch, cookie }] of answers.entries()) {
        expect(patch).toEqual([{ op: 'put', key: 'item/a1', value: { id: 'a1', n } }]);
        expect(cookie).toMatchObject({ clientGroupID: `group ${i}` });
      }
      cookies = answers.map(({ cookie }) => cookie);
    }
  });

  it('share one poll if nothing has changed, and keep their own cookies', async () => {
    const base = await first();
    await run(`update item set n = 'new'`);
    const pulls = (cookies: unknown[]) =>
      Promise.all(cookies.map((cookie, i) => server.pull(cookie, { clientGroupID: `group ${i}` })));
    const answers = await pulls(Array.from({ length: 16 }, () => base));
    watched.take();
    const again = await pulls(answers.map(({ cookie }) => cookie));
    expect(watched.take()).toEqual(['poll']);
    expect(again).toEqual(answers.map(({ cookie }) => ({ cookie, lastMutationIDChanges: {}, patch: [] })));
    expect(new Set(answers.map(({ cookie }) => JSON.stringify(cookie))).size).toBe(16);
  });

  it('share the next statement if they arrive one by one during another', async () => {
    const cookie = await first();
    await run(`update item set n = 'new' where id = 'a1'`);
    const passed = gate();
    watched.after = () => passed.opened;
    const pulls: Promise<PullAnswer>[] = [];
    for (const clientGroupID of groups(200)) {
      pulls.push(server.pull(cookie, { clientGroupID }));
      if (pulls.length % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    passed.open();
    expect((await Promise.all(pulls)).every(({ patch }) => patch.length === 1)).toBe(true);
    expect(watched.take().length).toBeLessThanOrEqual(8);
  });

  it('do not wait for a statement that hangs', async () => {
    const cookie = await first();
    await run(`update item set n = 'new' where id = 'a1'`);
    for (const kind of ['poll', 'probe', 'delta']) {
      const { opened, open } = gate();
      let isHeld = false;
      watched.before = (statement) => {
        if (isHeld || statement.kind !== kind) return;
        isHeld = true;
        return opened;
      };
      const hanging = server.pull(cookie, { clientGroupID: 'group 0' });
      await vi.waitFor(() => expect(isHeld).toBe(true));
      const { patch } = await server.pull(cookie, { clientGroupID: 'group 1' });
      expect(patch).toHaveLength(1);
      open();
      expect((await hanging).patch).toEqual(patch);
    }
  });

  it('still get the delta that they wait for together if one of their clients goes away', async () => {
    const owners = ['ada', 'ben', 'cid'];
    const pullAll = (cookies: readonly unknown[]) =>
      Promise.all(owners.map((owner, i) => server.pull(cookies[i], { clientGroupID: owner }, owner)));
    // The second pull needs the first poll, after which no pull needs a probe.
    const firstAnswers = await pullAll([null, null, null]);
    const [ada, ...others] = await pullAll(firstAnswers.map(({ cookie }) => cookie));
    await run(`
      insert into item (id, owner_id) select owner || i, owner from generate_series(1, 200) i,
        unnest('{ada,ben,cid}'::text[]) owner
      on conflict do nothing`);
    const { opened, open } = gate();
    let heldCount = 0;
    watched.before = ({ kind }) => {
      if (kind !== 'copy' || heldCount === 2) return;
      heldCount++;
      return opened;
    };
    // As many as may run at once.
    const held = others.map(({ cookie }, i) => server.pull(cookie, { clientGroupID: owners[i + 1]! }, owners[i + 1]));
    await vi.waitFor(() => expect(heldCount).toBe(2));
    watched.take();
    const tab = new AbortController();
    const pulls = [tab.signal, undefined].map((signal) =>
      server.pull(ada!.cookie, { clientGroupID: 'ada' }, 'ada', signal),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(watched.take()).toEqual([]);
    tab.abort();
    await new Promise((resolve) => setTimeout(resolve, 50));
    open();
    const [, remaining] = await Promise.allSettled(pulls);
    expect(remaining).toMatchObject({ status: 'fulfilled' });
    expect((remaining as PromiseFulfilledResult<PullAnswer>).value.patch).toHaveLength(200);
    await Promise.all(held);
  });

  it('share a further delta if more has changed since the first was planned', async () => {
    const cookie = await first();
    await run(`update item set n = 'new' where id = 'a1'`);
    let deltas = 0;
    watched.before = async ({ kind }) => {
      if (kind === 'delta' && deltas++ === 0) await run(`insert into note values ('late')`);
    };
    const answers = await Promise.all(groups(10).map((clientGroupID) => server.pull(cookie, { clientGroupID })));
    expect(watched.take()).toEqual(['poll', 'probe', 'delta', 'delta']);
    for (const { patch } of answers) {
      expect(patch.map((op) => op.op !== 'clear' && op.key)).toEqual(['item/a1', 'note/late']);
    }
  });

  it('are all reset by a TRUNCATE that their delta waited for', async () => {
    const cookie = await first();
    await run(`update item set n = 'new' where id = 'a1'`);
    const client = await database.pool.connect();
    let truncated: Promise<unknown> = Promise.resolve();
    watched.before = async ({ kind }) => {
      if (kind !== 'delta' || watched.statements.filter((statement) => statement.kind === 'delta').length > 1) return;
      await client.query('begin; truncate item');
      const waiting = `select from pg_locks where not granted and relation = 'item'::regclass`;
      truncated = (async () => {
        while ((await run(waiting)).rowCount === 0);
        await client.query('commit');
      })();
    };
    const answers = await Promise.all(groups(5).map((clientGroupID) => server.pull(cookie, { clientGroupID })));
    await truncated;
    client.release();
    expect(answers.map(({ patch }) => patch)).toEqual(answers.map(() => [{ op: 'clear' }]));
    const [poll, probe, ...others] = watched.take();
    expect([poll, probe, new Set(others)]).toEqual(['poll', 'probe', new Set(['delta', 'copy'])]);
    // Each pull reads all data on its own. The two deltas before are shared by all pulls that arrive together.
    expect(others.length).toBeLessThan(3 * answers.length);
  });
});

describe('a pull', () => {
  it.each(['poll', 'probe', 'delta'] as const)(
    'is answered by a statement that began after its arrival, even during a %s of the same views',
    async (kind) => {
      const base = await first();
      // For its own group, a poll shows that nothing has changed. For other groups, a probe must.
      await run(`update item set n = 'known' where id = 'a1'`);
      const ownAnswer = await server.pull(base, { clientGroupID: 'early' });
      await server.pull(ownAnswer.cookie, { clientGroupID: 'early' });
      watched.take();
      const cookie = kind === 'poll' ? ownAnswer.cookie : await first();
      if (kind === 'delta') await run(`update item set n = 'early' where id = 'a1'`);
      const [read, passed] = [gate(), gate()];
      watched.after = async (statement) => {
        if (statement.kind !== kind) return;
        watched.after = () => {};
        read.open();
        await passed.opened;
      };
      const early = server.pull(cookie, { clientGroupID: 'early' });
      await read.opened;
      await run(`update item set n = 'late' where id = 'a2'`);
      const late = ['late', 'later', 'early'].map((clientGroupID) => server.pull(cookie, { clientGroupID }));
      await new Promise((resolve) => setImmediate(resolve));
      passed.open();

      const keys = ({ patch }: PullAnswer) => patch.map((op) => op.op !== 'clear' && op.key);
      expect(keys(await early)).toEqual(kind === 'delta' ? ['item/a1'] : []);
      const expected = kind === 'delta' ? ['item/a1', 'item/a2'] : ['item/a2'];
      for (const answer of await Promise.all(late)) expect(keys(answer).sort()).toEqual(expected);
      expect(watched.take().length).toBeLessThanOrEqual(6);
    },
  );
});

describe('each client group', () => {
  // From a hundred log rows on, a delta is a COPY.
  it.each([
    [0, ['delta']],
    [150, ['copy']],
  ])('receives its own mutation IDs at the shared snapshot, with %i other rows', async (others, kinds) => {
    await run(`
      insert into tidemark.client_group select 'group ' || n, 'ada' from generate_series(0, 4) n;
      insert into tidemark.client
      select 'client ' || n || m, 'group ' || n, 1, pg_current_xact_id() from generate_series(0, 4) n, unnest(array['x', 'y']) m`);
    const ownAnswers = await Promise.all(groups(5).map((clientGroupID) => server.pull(null, { clientGroupID })));
    watched.take();
    await run(`
      begin;
      update item set n = 'by a mutation' where id = 'a1';
      insert into item select 'c' || i, 'ada' from generate_series(1, ${others}) i;
      update tidemark.client set last_mutation_id = 7, xid = pg_current_xact_id() where id = 'client 1x';
      commit`);
    const groupIDs = [...groups(5), 'group 1', 'unknown'];
    const answers = await Promise.all(
      groupIDs.map((clientGroupID) => server.pull(ownAnswers[1]!.cookie, { clientGroupID })),
    );
    expect(watched.take()).toEqual(['poll', 'probe', ...kinds]);
    expect(answers.map(({ lastMutationIDChanges }) => lastMutationIDChanges)).toEqual([
      { 'client 0x': 1, 'client 0y': 1 },
      { 'client 1x': 7 },
      { 'client 2x': 1, 'client 2y': 1 },
      { 'client 3x': 1, 'client 3y': 1 },
      { 'client 4x': 1, 'client 4y': 1 },
      { 'client 1x': 7 },
      {},
    ]);
    expect(answers.map(({ cookie }) => (cookie as { mutations: number }).mutations)).toEqual([2, 8, 2, 2, 2, 8, 0]);
    const [{ patch: first }] = answers as [PullAnswer];
    for (const { patch } of answers) expect(patch).toEqual(first);
    expect(first).toHaveLength(1 + others);
    expect(first).toContainEqual({ op: 'put', key: 'item/a1', value: { id: 'a1', n: 'by a mutation' } });

    const next = await Promise.all(
      answers.slice(0, 5).map(({ cookie }, i) => server.pull(cookie, { clientGroupID: `group ${i}` })),
    );
    expect(watched.take()).toEqual(['poll']);
    expect(next.map(({ lastMutationIDChanges }) => lastMutationIDChanges)).toEqual(next.map(() => ({})));
  });

  it('is refused on its own if it has another owner, a lost client or lost mutations', async () => {
    await run(`
      insert into tidemark.client_group values ('of ben', 'ben'), ('restored', 'ada'), ('known', 'ada');
      insert into tidemark.client values ('theirs', 'of ben', 3, pg_current_xact_id()), ('back', 'restored', 9, pg_current_xact_id()),
        ('here', 'known', 2, pg_current_xact_id())`);
    const { cookie } = await server.pull(null, { clientGroupID: 'restored' });
    await run(
      `update tidemark.client set last_mutation_id = 4 where id = 'back'; update item set n = 'new' where id = 'a1'`,
    );
    watched.take();
    const [theirs, lost, back, existing, fresh, plain] = await Promise.allSettled([
      server.pull(cookie, { clientGroupID: 'of ben' }),
      server.pull(cookie, { clientGroupID: 'known', client: { id: 'gone', lastMutationID: 5 } }),
      server.pull(cookie, { clientGroupID: 'restored' }),
      server.pull(cookie, { clientGroupID: 'known', client: { id: 'here', lastMutationID: 1 } }),
      server.pull(cookie, { clientGroupID: 'new', client: { id: 'fresh', lastMutationID: 0 } }),
      server.pull(cookie, { clientGroupID: 'plain' }),
    ]);
    expect(watched.take().sort()).toEqual(['delta', 'poll', 'probe']);
    expect(theirs).toMatchObject({ status: 'rejected', reason: { code: 'forbidden', status: 403 } });
    expect(lost).toMatchObject({ status: 'rejected', reason: { code: 'client-record-lost' } });
    expect(back).toMatchObject({ status: 'rejected', reason: { message: 'ClientStateNotFound' } });
    for (const [answer, changes] of [
      [existing, { here: 2 }],
      [fresh, { fresh: 0 }],
      [plain, {}],
    ] as const) {
      expect(answer).toMatchObject({ status: 'fulfilled', value: { patch: [{ op: 'put', key: 'item/a1' }] } });
      expect(answer).toHaveProperty('value.lastMutationIDChanges', changes);
    }
  });

  it('is refused if another user owns it, even if it is registered after the probe', async () => {
    const cookie = await first();
    await run(`update item set n = 'new' where id = 'a1'`);
    watched.before = async ({ kind }) => {
      if (kind !== 'delta') return;
      watched.before = () => {};
      await run(`
        insert into tidemark.client_group values ('group 1', 'ben');
        insert into tidemark.client values ('theirs', 'group 1', 3, pg_current_xact_id())`);
    };
    const [mine, theirs] = await Promise.allSettled(
      groups(2).map((clientGroupID) => server.pull(cookie, { clientGroupID })),
    );
    expect(watched.take()).toEqual(['poll', 'probe', 'delta']);
    expect(mine).toMatchObject({ status: 'fulfilled', value: { patch: [{ key: 'item/a1' }] } });
    expect(theirs).toMatchObject({ status: 'rejected', reason: { code: 'forbidden', status: 403 } });
  });

  it('receives the failure of a shared statement, and its next pull succeeds', async () => {
    const cookie = await first();
    await run(`update item set n = 'new' where id = 'a1'`);
    const pulls = () => Promise.allSettled(groups(5).map((clientGroupID) => server.pull(cookie, { clientGroupID })));
    const failOnce = (kind: string, code: string) => {
      watched.before = (statement) => {
        if (statement.kind !== kind) return;
        watched.before = () => {};
        throw Object.assign(new Error('refused by the test'), { code });
      };
    };
    for (const kind of ['poll', 'probe', 'delta']) {
      failOnce(kind, '57P01');
      const refused = { status: 'rejected', reason: { code: 'unavailable', status: 503 } };
      expect(await pulls()).toMatchObject(groups(5).map(() => refused));
    }
    failOnce('delta', '22012');
    const all = ['a1', 'a2'].map((id) => expect.objectContaining({ op: 'put', key: `item/${id}` }));
    const reset = { status: 'fulfilled', value: { patch: expect.arrayContaining([{ op: 'clear' }, ...all]) } };
    expect(await pulls()).toMatchObject(groups(5).map(() => reset));
    expect(server.lines.lines.filter(({ fields }) => fields.reason === 'failure')).toHaveLength(5);
    const delta = { status: 'fulfilled', value: { patch: [{ key: 'item/a1' }] } };
    expect(await pulls()).toMatchObject(groups(5).map(() => delta));
  });
});

describe('simultaneous pulls never share', () => {
  it('rows of different users, although one statement reads them', async () => {
    const cookies = [await first('ada'), await first('ben')];
    expect(new Set(cookies.map((cookie) => (cookie as { snapshot: string }).snapshot)).size).toBe(1);
    await run(`update item set n = 'canary of ' || owner_id`);
    const requests = groups(40).map((group, i) => ({
      userID: ['ada', 'ben'][i % 2]!,
      clientGroupID: `${i % 2} ${group}`,
    }));
    const pulls = (from: readonly unknown[]) =>
      Promise.all(requests.map(({ userID, clientGroupID }, i) => server.pull(from[i], { clientGroupID }, userID)));
    const firstAnswers = await pulls(requests.map((_, i) => cookies[i % 2]));
    expect(watched.take().filter((kind) => kind === 'probe')).toHaveLength(2);
    await run(`update item set n = 'new canary of ' || owner_id`);
    const answers = await pulls(firstAnswers.map(({ cookie }) => cookie));
    expect(watched.take()).toEqual(['poll', 'delta']);
    for (const [i, { patch }] of [...firstAnswers, ...answers].entries()) {
      const [mine, theirs] = i % 2 === 0 ? ['ada', 'ben'] : ['ben', 'ada'];
      expect(JSON.stringify(patch)).toContain(`canary of ${mine}`);
      expect(JSON.stringify(patch)).not.toContain(`canary of ${theirs}`);
    }
  });

  // From a hundred log rows on, cohorts do not share a statement for a delta.
  describe.each([1, 150])('deltas of %i rows', (count) => {
    const add = (name: string, profile = 'null') =>
      run(`insert into item select '${name} ' || i, 'ada', ${profile} from generate_series(1, ${count}) i`);
    const keysOf = (names: readonly string[]) =>
      names.flatMap((name) => Array.from({ length: count }, (_, i) => `item/${name} ${i + 1}`)).sort();
    const keysIn = ({ patch }: PullAnswer) => patch.map((op) => op.op !== 'clear' && op.key).sort();

    it('from different bases', async () => {
      const old = await first();
      await add('one');
      const young = await first();
      await add('two');
      const cookies = [young, old, young, old];
      const answers = await Promise.all(
        cookies.map((cookie, i) => server.pull(cookie, { clientGroupID: `group ${i}` })),
      );
      const [few, all] = [keysOf(['two']), keysOf(['one', 'two'])];
      expect(answers.map(keysIn)).toEqual([few, all, few, all]);
    });

    it('for different profiles of a user', async () => {
      const cookieOf = async (profileID: string) => (await server.pull(null, { profileID })).cookie;
      const profiles = ['home', 'work'];
      const cookies = [await cookieOf('home'), await cookieOf('work')];
      for (const profile of profiles) await add(profile, `'${profile}'`);
      const answers = await Promise.all(
        groups(10).map((clientGroupID, i) =>
          server.pull(cookies[i % 2], { clientGroupID, profileID: profiles[i % 2]! }),
        ),
      );
      for (const [i, answer] of answers.entries()) expect(keysIn(answer)).toEqual(keysOf([profiles[i % 2]!]));
    });
  });
});

/**
 * Sampled clients are compared with their views: nothing is found where nothing is wrong, and each of some well-known
 * faults is.
 */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.js';
import { createSync } from '../../src/server.js';
import type { Views } from '../../src/view/define.js';
import type { TestDatabase } from '../database.js';
import { type LogLine, memoryLog } from '../log.js';
import { loadBroken, removeCopies } from '../oracle/broken-copy.js';
import type { Patch } from '../patch.js';
import { type Context, createSynced, fullRead, type PullAnswer, PullServer, SyncClient } from '../synced.js';

const ddl = `
  create table list (id int primary key, owner text not null);
  create table share (list int not null, usr text not null, primary key (list, usr));
  create table todo (id int primary key, list int not null, text text not null)`;

const mine = `select l.id from list l where l.owner = $1 or l.id in (select s.list from share s where s.usr = $1)`;

const views: Views<Context> = {
  todo: {
    query: ({ ctx }) => ({ text: `select t.* from todo t where t.list in (${mine})`, values: [ctx.userID] }),
    key: ['id'],
  },
  alone: {
    query: () => ({
      text: 'select l.id, l.owner from list l where not exists (select from share s where s.list = l.id)',
      values: [],
    }),
    key: ['id'],
    prefix: 'alone/',
  },
  count: {
    query: () => ({ text: 'select list, count(*)::int as n from todo group by list', values: [] }),
    key: ['list'],
  },
  text: {
    query: () => ({ text: 'select text, 1.0 as n from todo union select owner, 1.00 from list', values: [] }),
    key: ['text'],
  },
};

const data = `
  truncate list, share, todo;
  insert into list values (1, 'bob'), (2, 'bob'), (3, 'cy'), (4, 'ada');
  insert into share values (2, 'ada'), (2, 'cy'), (1, 'ada');
  insert into todo select n, n % 4 + 1, 'todo ' || n from generate_series(1, 40) n`;

/** Ada sees something of each. */
const changes = [
  `insert into share values (4, 'ada'); update todo set text = 'changed' where id = 3`,
  `delete from todo where id = 5; insert into todo values (41, 1, 'new'), (42, 3, 'new')`,
  `insert into share values (3, 'bob'); delete from share where (list, usr) = (2, 'cy'); update todo set text = 'x' where id = 3`,
  `delete from share where (list, usr) = (4, 'ada'); delete from todo where list = 2 and id > 20`,
];

let database: TestDatabase;
beforeAll(async () => {
  database = await createSynced(ddl, views);
});
beforeEach(() => database.pool.query(data));
afterAll(async () => {
  removeCopies();
  await database.drop();
});

/**
 * Five deltas: a sampled client has then been compared. One change begins before the others and is committed behind
 * them. The number of the deltas is the same where a fault leaves a client without some of the rows.
 */
async function live(client: SyncClient): Promise<void> {
  const writer = new pg.Client(database.url);
  await writer.connect();
  try {
    await client.pull();
    await writer.query(`begin; insert into todo values (50, 1, 'late')`);
    for (const change of changes) {
      await database.pool.query(change);
      await client.pull();
    }
    await writer.query('commit');
    await database.pool.query(`insert into todo values (51, 1, repeat('large ', 100000))`);
    await client.pull();
  } finally {
    await writer.end();
  }
}

const auditOf = ({ cookie }: SyncClient) => (cookie as { audit: string | null }).audit;

describe('a sound server', () => {
  const servers: PullServer[] = [];
  const texts: string[] = [];
  const watch = (db: Database): Database => ({
    ...db,
    copy(text) {
      texts.push(text);
      return db.copy(text);
    },
  });
  const start = (audit: number) => {
    const server = new PullServer(database.url, views, watch, audit);
    servers.push(server);
    return server;
  };
  beforeEach(() => texts.splice(0));
  afterAll(async () => {
    for (const server of servers) await server.close();
  });

  it('finds nothing at the fifth delta of a sampled client, and the tenth', async () => {
    const server = start(1);
    const client = new SyncClient(server);
    await live(client);
    expect(server.auditor.state()).toEqual({ compared: 1, differences: 0 });
    expect(auditOf(client)).toMatch(/^0 /);
    expect(client.held()).toEqual(await fullRead(server));
    for (let i = 0; i < 4; i++) {
      await database.pool.query(`update todo set text = text || '.' where id % 2 = 0`);
      await client.pull();
    }
    expect(auditOf(client)).toMatch(/^4 /);
    expect(server.auditor.state().compared).toBe(1);
    await database.pool.query('delete from todo where id % 2 = 0');
    await client.pull();
    expect(server.auditor.state()).toEqual({ compared: 2, differences: 0 });
    expect(server.lines.lines).toEqual([]);
    expect(client.held()).toEqual(await fullRead(server));
  });

  it('asks nothing of the kind for other clients', async () => {
    const client = new SyncClient(start(0));
    await live(client);
    expect(auditOf(client)).toBeNull();
    expect(texts).toHaveLength(6);
    for (const text of texts) expect(text).not.toContain("'whole'");
  });

  it('takes no notice of an audit once they are off, and begins none before the next reset', async () => {
    const [on, off] = [start(1), start(0)];
    const client = new SyncClient(on);
    await client.pull();
    expect(auditOf(client)).not.toBeNull();
    texts.splice(0);
    await database.pool.query(changes[0]!);
    await client.pull(off);
    expect(auditOf(client)).toBeNull();
    await database.pool.query(changes[1]!);
    await client.pull(on);
    expect(auditOf(client)).toBeNull();
    for (const text of texts) expect(text).not.toContain("'whole'");
  });

  it('compares again at the next delta where the fifth told the client nothing', async () => {
    const server = start(1);
    const client = new SyncClient(server);
    await live(client);
    for (let i = 0; i < 4; i++) {
      await database.pool.query(`update todo set text = text || '.'`);
      await client.pull();
    }
    await database.pool.query(`update list set id = 3 where id = 3`);
    expect((await client.pull()).patch).toEqual([]);
    expect(server.auditor.state()).toEqual({ compared: 2, differences: 0 });
    expect(auditOf(client)).toMatch(/^0 /);
  });
});

interface Fault extends Patch {
  readonly name: string;
  readonly reports: readonly object[];
}

const faults: readonly Fault[] = [
  {
    name: 'a negation is taken for monotone',
    file: 'view/strategy.ts',
    find: `if (bool && bool.boolop !== 'NOT_EXPR') {`,
    replace: 'if (bool) {',
    reports: [{ view: 'alone', surplus: [null], missing: [] }],
  },
  {
    name: 'a view that is compared is compared with itself',
    file: 'store/sides.ts',
    find: 'const before = rowsOf(view, view.standing(asof), values);',
    replace: 'const before = rowsOf(view, view.now, values);',
    reports: [{ view: 'alone', surplus: ['alone/3'], missing: [] }, { view: 'count' }],
  },
  {
    name: 'rows that have changed are not put',
    file: 'store/patch-sql.ts',
    find: '(b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)',
    replace: 'b.tidemark_other is null',
    reports: [{ view: 'todo' }, { view: 'count' }],
  },
  {
    name: 'a cookie forgets which transactions were in progress',
    file: 'protocol/snapshot.ts',
    find: '[[xmax, highestXid], ...unseen]',
    replace: '[[xmax, highestXid]]',
    reports: [
      { view: 'todo', surplus: [], missing: ['todo/50'] },
      { view: 'count' },
      { view: 'text', surplus: [], missing: ['text/late'] },
    ],
  },
  {
    name: 'rows go that are there for another reason',
    file: 'store/sides.ts',
    find: 'isThere: isIn(view, view.now, values)',
    replace: `isThere: 'false'`,
    reports: [{ view: 'todo', surplus: [] }],
  },
];

const options = { views, authenticate: () => ({ userID: 'ada' }), rest: false } as const;

describe('finds that', () => {
  it.each(faults)(
    '$name',
    async ({ name, reports, ...patch }) => {
      const code = await loadBroken(name.replaceAll(' ', '-'), [patch]);
      const { log, lines } = memoryLog();
      // Where the last delta, a large one, kept its connection, there would be none to ask whose rows differ.
      const pool = new pg.Pool({ connectionString: database.url, max: 1, connectionTimeoutMillis: 10_000 });
      pool.on('error', () => {});
      const broken = await code.createSync({ ...options, database: pool, log, audit: 1 });
      const client = new SyncClient(pullsOf(broken));
      await live(client);
      const ready = await broken.fetch(new Request('http://localhost/readyz'));
      expect(await ready.json()).toMatchObject({ audits: { compared: 1, differences: 1 } });
      const found = lines.filter(({ level }) => level === 'error').map(fieldsOf);
      expect(found).toEqual(reports.map((report) => expect.objectContaining(report)));
      expect(lines.filter(({ fields }) => fields.reason === 'audit')).toHaveLength(1);
      const sound = await createSync({ ...options, database: pool, log });
      const healed = new SyncClient(pullsOf(sound));
      await healed.pull();
      expect(client.held()).toEqual(healed.held());
      expect(auditOf(client)).toMatch(/^0 /);
      // After a failure, a connection that is kept would hold this up, and the failure with it.
      for (const end of [sound.close, broken.close]) await end();
      await pool.end();
    },
    60_000,
  );
});

function fieldsOf({ message, fields }: LogLine): Record<string, unknown> {
  expect(message).toBe("A client's data does not match its view; the client is reset");
  expect(fields).toMatchObject({
    since: expect.stringMatching(/^\d+:\d+:/),
    snapshot: expect.stringMatching(/^\d+:\d+:/),
  });
  expect(fields.transactions).toEqual(expect.arrayContaining([expect.stringMatching(/^\d+$/)]));
  return fields;
}

function pullsOf(sync: { fetch(request: Request): Promise<Response> }): Pick<PullServer, 'pull'> {
  return {
    async pull(cookie) {
      const body = { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie };
      const init = { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
      const response = await sync.fetch(new Request('http://localhost/sync/pull', init));
      expect(response.status).toBe(200);
      return (await response.json()) as PullAnswer;
    },
  };
}

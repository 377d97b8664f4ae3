/**
 * The bare limits: what Node and Postgres do without a sync server in between.
 *
 *   POST /query          HTTP and one prepared query that an index serves
 *   POST /copy?user=…    the ops of a first pull, made by COPY and piped out
 *   { ids, milliseconds }    a message: a push's statements in plain transactions, for this many milliseconds
 *   { id, count, commits }   a message: the statements of `count` mutations in `commits` transactions; their duration
 */
import { createServer } from 'node:http';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { renameStatement } from '../applications/todos.mjs';

const connectionString = process.env.DATABASE_URL;
const pool = new pg.Pool({ connectionString, max: 10 });
pool.on('error', () => {});

/** @param {string} user */
const copyOps = (user) => {
  const isVisible = `owner_id = '${user}' or id in (select list_id from share where user_id = '${user}')`;
  /** @type {(view: string, query: string) => string} */
  const ops = (view, query) =>
    `select ',{"op":"put","key":' || to_json('${view}/' || v.id)::text || ',"value":' || row_to_json(v)::text || '}' from (${query}) v`;
  return `copy (
    select '{"patch":[{"op":"clear"}'
    union all
    ${ops('list', `select id, owner_id, name from list where ${isVisible}`)}
    union all
    ${ops('todo', `select id, list_id, title, done, sort, note, updated_at from todo where list_id in (select id from list where ${isVisible})`)}
  ) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')`;
};

/** @type {Record<string, (url: URL, response: import('node:http').ServerResponse) => Promise<void>>} */
const routes = {
  '/query': async (_, response) => {
    const { rows } = await pool.query({
      name: 'q',
      text: 'select id, name from list where id = $1',
      values: ['l1000.1'],
    });
    const body = JSON.stringify(rows[0]);
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  },
  '/copy': async (url, response) => {
    const client = await pool.connect();
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const stream = client.query(copyTo(copyOps(url.searchParams.get('user') ?? '')));
    stream.pipe(response, { end: false });
    stream.on('end', () => {
      client.release();
      response.end(']}');
    });
  },
};

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  request.on('data', () => {});
  request.on('end', () => routes[url.pathname]?.(url, response));
});
// A connection must stay open during the turns of all other contenders.
server.keepAliveTimeout = 75_000;
server.listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ url: `http://127.0.0.1:${address.port}` });
});

/** @type {pg.Client[]} */
const writers = [];

/** @param {number} count */
async function connectWriters(count) {
  const more = Array.from({ length: Math.max(0, count - writers.length) }, () => new pg.Client({ connectionString }));
  await Promise.all(more.map((client) => client.connect()));
  writers.push(...more);
}

/**
 * Runs the statements of a mutation.
 * @type {(writer: number, id: string | undefined, title: string) => Promise<void>}
 */
async function mutate(writer, id, title) {
  await writers[writer]?.query(
    `update tidemark.client set last_mutation_id = last_mutation_id + 1, xid = pg_current_xact_id() where id = $1`,
    [`bare${writer}`],
  );
  await writers[writer]?.query(renameStatement, [id, title]);
}

/**
 * @param {{ ids: readonly string[], milliseconds: number }} work one writer for each todo
 * @returns the number of committed transactions
 */
async function transactions({ ids, milliseconds }) {
  await connectWriters(ids.length);
  const end = performance.now() + milliseconds;
  let committed = 0;
  await Promise.all(
    ids.map(async (id, i) => {
      for (; performance.now() < end; committed++) {
        await writers[i]?.query('begin isolation level repeatable read');
        await mutate(i, id, `bare ${committed}`);
        await writers[i]?.query('commit');
      }
    }),
  );
  return { committed };
}

/** @param {{ id: string, count: number, commits: number }} work */
async function mutations({ id, count, commits }) {
  await connectWriters(1);
  const started = performance.now();
  for (let commit = 0; commit < commits; commit++) {
    await writers[0]?.query('begin isolation level repeatable read');
    for (let i = 0; i < count / commits; i++) await mutate(0, id, `bare ${commit} ${i}`);
    await writers[0]?.query('commit');
  }
  return { ms: performance.now() - started };
}

process.on('message', async (/** @type {Parameters<typeof transactions | typeof mutations>[0]} */ work) => {
  process.send?.('ids' in work ? await transactions(work) : await mutations(work));
});
process.on('disconnect', () => process.exit(0));

/**
 * A process with the bare limits: what Node and Postgres do with nothing in between.
 *
 *   POST /query          HTTP and one prepared query that an index serves
 *   POST /copy?user=…    the ops of a first pull, made by COPY and piped out
 *   { transactions }     a message: the statements of a push in plain transactions, for so many milliseconds
 */
import { createServer } from 'node:http';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { renameStatement } from './application.mjs';

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
server.listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ url: `http://127.0.0.1:${address.port}` });
});

/** @type {pg.Client[]} */
let writers = [];

/**
 * @param {{ ids: readonly string[], milliseconds: number }} work one writer for each todo
 * @returns how many transactions were committed
 */
async function transactions({ ids, milliseconds }) {
  if (writers.length === 0) {
    writers = ids.map(() => new pg.Client({ connectionString }));
    await Promise.all(writers.map((client) => client.connect()));
  }
  const end = performance.now() + milliseconds;
  let committed = 0;
  await Promise.all(
    writers.slice(0, ids.length).map(async (client, i) => {
      for (; performance.now() < end; committed++) {
        await client.query('begin isolation level repeatable read');
        await client.query(
          `update tidemark.client set last_mutation_id = last_mutation_id + 1, xid = pg_current_xact_id() where id = $1`,
          [`bare${i}`],
        );
        await client.query(renameStatement, [ids[i], `bare ${committed}`]);
        await client.query('commit');
      }
    }),
  );
  return committed;
}

process.on('message', async (/** @type {{ ids: string[], milliseconds: number }} */ work) => {
  process.send?.({ committed: await transactions(work) });
});
process.on('disconnect', () => process.exit(0));

/**
 * Serves calls that must have their effect once, on the database of DATABASE_URL, from the compiled package in the
 * folder CODE. Plain JavaScript, so that a hundred of these processes start quickly.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (file) => import(pathToFileURL(join(process.env.CODE, file)).href);
const [{ createSync }, { defineMutator, defineMutators }, { listen, logFromEnvironment }] = await Promise.all(
  ['server.js', 'registry/mutators.js', 'node.js'].map(load),
);

const mutators = defineMutators({
  warm: defineMutator(({ tx }) => tx.query('select')),
  append: defineMutator(async ({ tx, args: { n, counter } }) => {
    const insert = 'insert into effect (n) values ($1) returning token';
    const { rows } = await tx.query(insert, [n]);
    await tx.query('update counter set n = n + 1 where id = $1', [counter]);
    return { n, token: rows[0].token };
  }),
});

const log = logFromEnvironment('error');
const sync = await createSync({
  database: process.env.DATABASE_URL,
  views: {},
  mutators,
  authenticate: () => ({ userID: 'ann' }),
  log,
});
const { url } = await listen(sync, { log, port: 0, hostname: '127.0.0.1' });

// Opens the connections.
await Promise.all(Array.from({ length: 10 }, () => fetch(`${url}/api/mutators/warm`, { method: 'POST' })));
process.stdout.write(`Ready ${url}\n`);

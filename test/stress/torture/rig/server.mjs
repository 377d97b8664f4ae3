/** A server under test: the compiled package in the folder CODE, on DATABASE_URL and PORT. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { answerWithState } from '../../../../bench/servers/state.mjs';
import { applicationOf } from './application.mjs';

const { CODE, DATABASE_URL, OPTIONS, PORT } = process.env;
const load = (file) => import(pathToFileURL(join(CODE, file)).href);
const [tidemark, { listen }, { jwtAuth }] = await Promise.all(['index.js', 'node.js', 'auth.js'].map(load));

const errors = [];
const ignore = () => {};
const log = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: (fields, message) => errors.push(`${message} ${JSON.stringify(fields)}`),
};

const { jwksURL, ...options } = JSON.parse(OPTIONS);
const sync = await tidemark.createSync({
  database: DATABASE_URL,
  log,
  metrics: 'public',
  ...applicationOf(tidemark),
  ...options,
  ...(jwksURL && { authenticate: jwtAuth({ key: { jwksURL }, algorithms: ['ES256'] }) }),
});
const { url } = await listen(sync, { log, port: Number(PORT), hostname: '127.0.0.1' });
answerWithState(() => ({ errors }));
process.send({ url });

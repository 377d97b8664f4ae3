/**
 * Compares a server that connects to Postgres directly with one that connects through pgbouncer in transaction mode.
 *
 *   npm run bench -- pooler               200 samples of each, about a minute
 *   npm run bench -- pooler --samples 10  a smoke run
 */
import { parseArgs } from 'node:util';
import { startPgBouncer } from '../test/support/pgbouncer.js';
import { ClientGroup, pullOps } from './client/client-group.js';
import { Connection } from './client/connection.js';
import { seedTodos, startDatabase, todoOf, userOf } from './database.js';
import { startServer } from './processes.js';
import { inTurns, median, quantile, ratePerSecond } from './statistics.js';

const { values: options } = parseArgs({ options: { samples: { type: 'string', default: '200' } } });
const samples = Number(options.samples);

const size = 1_000;
const user = userOf(size);
const writers = 16;
const isSmoke = samples < 50;
const rounds = isSmoke ? 3 : 5;
const roundMs = isSmoke ? 200 : 1_500;

/** Pushes mutations of one client, one mutation a push. */
class Pusher {
  readonly #connection: Connection;
  readonly #id: string;
  readonly #todo: string;
  #pushed = 0;

  constructor(connection: Connection, id: string, todo: string) {
    this.#connection = connection;
    this.#id = id;
    this.#todo = todo;
  }

  async push(): Promise<number> {
    const id = ++this.#pushed;
    const mutation = { clientID: this.#id, id, name: 'todo.rename', args: { id: this.#todo, title: `Pushed ${id}` } };
    const body = {
      profileID: 'p',
      clientGroupID: `group of ${this.#id}`,
      mutations: [{ ...mutation, timestamp: 0 }],
      pushVersion: 1,
      schemaVersion: '',
    };
    return (await this.#connection.post('/sync/push', user, JSON.stringify(body))).ms;
  }
}

type Contender = 'direct' | 'pooled';
type Contenders = Record<Contender, () => Promise<number>>;

function report(what: string, measured: Record<Contender, readonly number[]>, unit: string): void {
  const { direct, pooled } = measured;
  const both = [direct, pooled].map((all) => `${median(all).toPrecision(3)} ${unit}`.padStart(12));
  const tail = [direct, pooled].map((all) => `${quantile(all, 0.95).toPrecision(3)} ${unit}`.padStart(12));
  const ratio = (median(pooled) / median(direct)).toFixed(2).padStart(8);
  console.log([what.padEnd(42), ...both, ratio, ...tail].join(''));
}

const database = await startDatabase();
const stops: (() => unknown)[] = [() => database.stop()];
try {
  await seedTodos(database.pool, [size]);
  const pooler = await startPgBouncer(database.url, { size: 10 });
  stops.unshift(() => pooler.stop());
  const open = async (url: string, name: Contender) => {
    const server = await startServer(url, { application: 'todos' });
    stops.unshift(() => server.stop());
    const connect = async () => {
      const connection = await Connection.open(server.url);
      stops.unshift(() => connection.close());
      return connection;
    };
    const connections = await Promise.all(Array.from({ length: writers }, connect));
    const pushers = connections.map((one, i) => new Pusher(one, `${name} ${i}`, todoOf(size, i + 1)));
    return { group: new ClientGroup(await connect(), user, `pulls ${name}`), pushers };
  };
  const direct = await open(database.url, 'direct');
  const pooled = await open(pooler.url, 'pooled');
  const contenders = (measure: (served: typeof direct) => Promise<number>): Contenders => ({
    direct: () => measure(direct),
    pooled: () => measure(pooled),
  });
  let changes = 0;
  const changed = async ({ group }: typeof direct) => {
    await group.pull();
    await database.pool.query('update todo set title = $1 where id = $2', [`Changed ${++changes}`, todoOf(size, 1)]);
    return (await pullOps(group, 1)).ms;
  };
  const latencies: Readonly<Record<string, Contenders>> = {
    'a pull to which nothing has happened': contenders(async ({ group }) => (await group.repeat()).ms),
    'a pull of one changed row': contenders(changed),
    'a push of one mutation': contenders(({ pushers }) => pushers[0]!.push()),
  };
  for (const { group } of [direct, pooled]) await group.pull();
  console.log(`${samples} samples of each, in turns; 16 clients push for ${rounds} times ${roundMs} ms.\n`);
  console.log(
    `${''.padEnd(42)}${'direct'.padStart(12)}${'pooled'.padStart(12)}${'ratio'.padStart(8)}${'p95 of each'.padStart(24)}`,
  );
  for (const [what, both] of Object.entries(latencies)) {
    await inTurns(10, both);
    report(what, await inTurns(samples, both), 'ms');
  }
  const rate = contenders(({ pushers }) => ratePerSecond(writers, roundMs, (worker) => pushers[worker]!.push()));
  await inTurns(1, rate);
  report('pushes of 16 clients at once', await inTurns(rounds, rate), '/s');
} finally {
  for (const stop of stops) await stop();
}

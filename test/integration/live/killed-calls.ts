/**
 * Calls that would have a double effect if they ran twice, while servers and database backends are killed at random.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createEmptyDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { seeded } from '../conformance/random.js';
import { KeyedClient, type Tally } from './keyed-client.js';
import { KilledServers } from './killed-servers.js';

export interface KilledCallsOptions {
  /** The folder of the compiled package. */
  readonly code: string;
  readonly kills: number;
  readonly clients?: number;
  readonly seed: number;
}

export interface KilledCallsReport extends Tally {
  /** Answered calls, with one or two effects each. */
  calls: number;
  /** Requests that were in progress when their server was killed. */
  killedInFlight: number;
  /** Backends that were killed during a transaction. */
  killedBackends: number;
  /** The violations found, as a phrase each. */
  faults: string[];
  /** The errors that the servers logged. */
  log: string;
}

/** The number of clients whose calls wait for one another. */
const clientsPerCounter = 2;

const ddl = `
  create table effect (n text not null, token uuid not null default gen_random_uuid());
  create table counter (id int primary key, n int not null default 0)`;

interface FinishedCall {
  readonly effects: readonly string[];
  readonly answers: readonly string[];
  readonly key: string;
}

export async function callWhileKilling(options: KilledCallsOptions): Promise<KilledCallsReport> {
  const { code, kills, clients = 8, seed } = options;
  const database = await createEmptyDatabase();
  await database.pool.query(`${ddl}; insert into counter (id) select generate_series(0, ${clients})`);
  await migrate({ database: database.url, views: {}, log: silent });
  const servers = new KilledServers({ database: database.url, code });
  const tally: Tally = { open: 0, broken: 0, unavailable: 0, busy: 0, answers: 0, replayed: 0, repeated: 0 };
  const random = seeded(seed);
  const finished: FinishedCall[] = [];
  let killedInFlight = 0;
  let killedBackends = 0;
  let isCalling = true;
  const runs = Array.from({ length: clients }, async (_, id) => {
    const client = new KeyedClient({ url: () => servers.url(), tally, random });
    for (let i = 0; isCalling; i++) finished.push(await callOnce(client, id, i, { random, tally }));
  });
  const calling = Promise.all(runs);
  // A failed call ends the kills immediately.
  let failure: Promise<never> | undefined;
  calling.catch((error: unknown) => {
    failure = Promise.reject(error);
    failure.catch(() => {});
  });
  try {
    for (let round = 0; round < kills; round++) {
      await failure;
      await servers.url();
      // A server that has just started is slow to respond, and most kills must hit a busy server.
      const enough = tally.answers + (round % 4 === 0 ? 0 : 1 + random(clients));
      while (tally.answers < enough && failure === undefined) await sleep(1);
      await sleep(1 + random(40));
      if (round % 3 === 0) {
        killedBackends += await killBackends(database.pool);
        await sleep(random(20));
      }
      killedInFlight += tally.open;
      await servers.killServing();
    }
    isCalling = false;
    await calling;
    const log = await servers.close();
    await untilIdle(database.pool);
    const faults = await judge(database.pool, finished);
    return { ...tally, calls: finished.length, killedInFlight, killedBackends, faults, log };
  } finally {
    isCalling = false;
    await servers.close();
    await database.drop();
  }
}

/**
 * Every third call is a batch of two. One in four is sent twice at the same time, and one in four again after its
 * answer.
 */
async function callOnce(
  client: KeyedClient,
  id: number,
  i: number,
  { random, tally }: { random: (below: number) => number; tally: Tally },
): Promise<FinishedCall> {
  const key = `${id} ${i}`;
  const counter = Math.floor(id / clientsPerCounter);
  const effects = i % 3 === 0 ? [`${key} a`, `${key} b`] : [key];
  const args = effects.map((n) => ({ n, counter }));
  const send = () =>
    effects.length === 1
      ? client.call('/api/mutators/append', args[0], `"${key}"`)
      : client.call(
          '/api/mutators',
          args.map((one) => ({ name: 'append', args: one })),
          `"${key}"`,
        );
  const answers = await Promise.all(random(4) === 0 ? [send(), send()] : [send()]);
  if (answers.every(({ replayed }) => replayed)) tally.replayed++;
  if (random(4) === 0) {
    const again = await send();
    tally.repeated++;
    if (!again.replayed) throw new Error(`${key} was answered, and then not from what is kept`);
    answers.push(again);
  }
  return { effects, answers: answers.map(({ text }) => text), key };
}

/** Matches the server's connections, which also name the request during a transaction. */
const ofTheServer = `application_name like 'tidemark%' and datname = current_database()`;

/** Terminates some of the server's connections, and returns how many of them were busy. */
async function killBackends(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ at_work: boolean }>(`
    select xact_start is not null as at_work, pg_terminate_backend(pid) from pg_stat_activity
    where ${ofTheServer} and random() < 0.5`);
  return rows.filter(({ at_work }) => at_work).length;
}

/** Waits until the statements of killed servers have ended, because their effects count, too. */
async function untilIdle(pool: pg.Pool): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(`select from pg_stat_activity where ${ofTheServer}`);
    if (rowCount === 0) return;
    await sleep(20);
  }
}

async function judge(pool: pg.Pool, finished: readonly FinishedCall[]): Promise<string[]> {
  const faults: string[] = [];
  const { rows } = await pool.query<{ n: string; tokens: string[] }>(
    'select n, array_agg(token::text) as tokens from effect group by n',
  );
  const tokens = new Map(rows.map((row) => [row.n, row.tokens]));
  const stored = await pool.query<{ key: string; answer: string }>('select key, answer from tidemark.idempotency_key');
  const storedAnswers = new Map(stored.rows.map(({ key, answer }) => [key, answer]));
  const expected = new Set(finished.flatMap(({ effects }) => effects));
  for (const n of tokens.keys()) if (!expected.has(n)) faults.push(`${n} has an effect, and no answer`);
  for (const { effects, answers, key } of finished) {
    for (const n of effects) {
      const count = tokens.get(n)?.length ?? 0;
      if (count !== 1) faults.push(`${n} has its effect ${count === 2 ? 'twice' : `${count} times`}`);
    }
    if (new Set(answers).size > 1) faults.push(`${key} has different answers`);
    if (storedAnswers.get(key) !== answers[0]) faults.push(`${key} was answered with what is not kept`);
    const results = effects.map((n) => ({ ok: true, result: { n, token: tokens.get(n)?.[0] } }));
    const answer = JSON.stringify(effects.length === 1 ? results[0] : results);
    if (answers[0] !== answer) faults.push(`${key} was answered with another effect than it had`);
  }
  if (stored.rows.length !== finished.length)
    faults.push(`${stored.rows.length} answers are kept of ${finished.length} calls`);
  const { rows: counters } = await pool.query<{ n: number }>('select sum(n)::int as n from counter');
  if (counters[0]!.n !== expected.size) faults.push(`the counters are at ${counters[0]!.n}, not at ${expected.size}`);
  return faults;
}

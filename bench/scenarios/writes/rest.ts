/** Measures what a REST call costs, compared with its statements alone and with a handwritten route. */
import { randomUUID } from 'node:crypto';
import type { Connection } from '../../client/connection.js';
import { todoOf, userOf } from '../../database.js';
import { type Goal, ratioAtLeast } from '../../goal.js';
import { startProcess, startServer } from '../../processes.js';
import { type Bench, type Result, withConnections } from '../../scenario.js';
import { inTurns, median, ratePerSecond } from '../../statistics.js';

const callers = 16;
const batchSize = 10;
const [mutator, name] = ['/api/mutators/todo/rename', 'todo.rename'];

/** Each caller calls the mutator for its own todos, one request at a time, without pauses. */
export async function rest(bench: Bench): Promise<Result[]> {
  const server = await startServer(bench.databaseURL, { application: 'todos', connections: callers });
  try {
    const limits = await startProcess('rest-limits.mjs', bench.databaseURL);
    return await measure(bench, { server, limits }).finally(limits.stop);
  } finally {
    await server.stop();
  }
}

async function measure({ sizes, scale }: Bench, { server, limits }: Pick<Bench, 'server' | 'limits'>) {
  const size = sizes[0]!;
  const milliseconds = 300;
  let renamed = 0;
  const rename = (n: number) => ({ id: todoOf(size, n), title: `Renamed ${++renamed}` });
  const one = (caller: number) => rename(1 + caller);
  const many = (caller: number) => Array.from({ length: batchSize }, (_, i) => rename(1 + caller * batchSize + i));
  const rates = await withConnections(async (open) => {
    const toServer = await Promise.all(Array.from({ length: callers }, () => open(server.url)));
    const toBare = await Promise.all(Array.from({ length: callers }, () => open(limits.url)));
    const posts =
      (connections: readonly Connection[], path: string, body: (caller: number) => unknown, headers?: () => string) =>
      () =>
        ratePerSecond(callers, milliseconds, (caller) =>
          connections[caller]!.post(
            path,
            userOf(size),
            JSON.stringify(body(caller)),
            headers && { headers: headers() },
          ),
        );
    const statements = (renames: (caller: number) => readonly { id: string }[]) => async () => {
      const ids = Array.from({ length: callers }, (_, caller) => renames(caller).map(({ id }) => id));
      return (await limits.ask<{ rate: number }>({ ids, milliseconds })).rate;
    };
    const contenders = {
      calls: posts(toServer, mutator, one),
      keyed: posts(toServer, mutator, one, () => `Idempotency-Key: "${randomUUID()}"\r\n`),
      route: posts(toBare, '/rename', one),
      statements: statements((caller) => [one(caller)]),
      batches: posts(toServer, '/api/mutators', (caller) => many(caller).map((args) => ({ name, args }))),
      routeOfMany: posts(toBare, '/renames', many),
      statementsOfMany: statements(many),
    };
    // A warm-up.
    await inTurns(1, contenders);
    return inTurns({ quick: 2, usual: 9, full: 21 }[scale], contenders);
  });

  type Contender = keyof typeof rates;
  const result = (what: string, ours: Contender, bare: Contender, limitName: string, each = 1, goal?: Goal): Result => {
    const [value, limit] = [each * median(rates[ours]), each * median(rates[bare])];
    return { name: what, value, unit: '/s', limit, limitName, ratio: value / limit, ...(goal && { goals: [goal] }) };
  };
  const calls = `REST calls, ${callers} clients`;
  const batches = `REST calls, ${batchSize} in a batch`;
  return [
    result(calls, 'calls', 'route', 'a bare Hono route'),
    result(calls, 'calls', 'statements', 'the same statements'),
    result('REST calls with a key each', 'keyed', 'route', 'a bare Hono route without keys'),
    result('REST calls with a key each', 'keyed', 'calls', 'calls without a key', 1, ratioAtLeast(0.8)),
    result(batches, 'batches', 'routeOfMany', 'a bare Hono route', batchSize),
    result(batches, 'batches', 'statementsOfMany', 'the same statements', batchSize),
  ];
}

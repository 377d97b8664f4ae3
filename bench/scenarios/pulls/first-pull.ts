/** Measures first pulls against COPY of the same ops piped through node:http. */
import { ClientGroup } from '../../client/client-group.js';
import type { Connection, Reply } from '../../client/connection.js';
import { userOf } from '../../database.js';
import { atMost, ratioAtMost } from '../../goal.js';
import { type Bench, type Result, short, withConnections } from '../../scenario.js';
import { inTurns, median } from '../../statistics.js';

interface Contender {
  pull(keep?: number): Promise<Reply>;
}

export async function firstPull(bench: Bench): Promise<Result[]> {
  const results: Result[] = [];
  for (const size of bench.sizes) {
    bench.progress(`first pull of ${short(size)} rows`);
    results.push(...(await ofSize(bench, size)));
  }
  return results;
}

async function ofSize({ server, limits, isQuick }: Bench, size: number): Promise<Result[]> {
  return withConnections(async (open) => {
    const ours = newClients(await open(server.url), size);
    const bare = copying(await open(limits.url), size);
    // Only for these sizes, because holding larger responses in memory would disturb the measurement.
    if (size <= 100_000) await check(ours, bare, size);
    server.resetPeak();
    limits.resetPeak();
    const rounds = isQuick ? 3 : size >= 1_000_000 ? 3 : size >= 100_000 ? 7 : size >= 10_000 ? 15 : 40;
    const { ours: pulls, bare: copies } = await inTurns(rounds, { ours: () => ours.pull(), bare: () => bare.pull() });
    const ms = median(pulls.map((reply) => reply.ms));
    const bareMs = median(copies.map((reply) => reply.ms));
    const firstByte = median(pulls.map((reply) => reply.firstByteMs));
    const bareFirstByte = median(copies.map((reply) => reply.firstByteMs));
    const limitName = 'COPY of the same ops';
    const name = `first pull, ${short(size)}`;
    const megabytes = (pulls[0]!.bytes / 1e6).toFixed(1);
    const memory = server.peakMemory();
    const bareMemory = limits.peakMemory();
    const compressed = await compressedResults(await open(server.url), size, ours, rounds);
    const isJudged = size === 100_000;
    return [
      {
        name,
        value: ms,
        unit: 'ms',
        limit: bareMs,
        limitName,
        ratio: ms / bareMs,
        ...(isJudged && { goals: [ratioAtMost(0.75)] }),
        note: `${megabytes} MB`,
        point: { plot: 'rows', curve: 'first pull', x: size },
      },
      {
        name: `${name}, first byte`,
        value: firstByte,
        unit: 'ms',
        limit: bareFirstByte,
        limitName,
        ratio: firstByte / bareFirstByte,
        ...(isJudged && { goals: [atMost(12)] }),
      },
      ...(memory === undefined
        ? []
        : [
            {
              name: `${name}, server memory`,
              value: memory,
              unit: 'MB',
              ...(bareMemory !== undefined && { limit: bareMemory, limitName, ratio: memory / bareMemory }),
              ...(isJudged && { goals: [atMost(130)] }),
            },
          ]),
      ...compressed,
    ];
  });
}

/** Compares a compressed pull with an uncompressed one: times and bytes. */
async function compressedResults(
  connection: Connection,
  size: number,
  plain: Contender,
  rounds: number,
): Promise<Result[]> {
  const group = new ClientGroup(connection, userOf(size), `compressed${size}`);
  const samples = await inTurns(rounds, {
    plain: () => plain.pull(),
    compressed: () => group.repeat({ headers: 'Accept-Encoding: gzip, deflate, br, zstd\r\n' }),
  });
  const [ms, plainMs] = [samples.compressed, samples.plain].map((replies) => median(replies.map((reply) => reply.ms)));
  const [bytes, plainBytes] = [samples.compressed[0]!.bytes, samples.plain[0]!.bytes];
  const limitName = 'the same without compression';
  const name = `first pull, ${short(size)}, compressed`;
  return [
    { name, value: ms!, unit: 'ms', limit: plainMs!, limitName, ratio: ms! / plainMs!, goals: [ratioAtMost(1.3)] },
    {
      name: `${name}, bytes`,
      value: bytes / 1e6,
      unit: 'MB',
      limit: plainBytes / 1e6,
      limitName,
      ratio: bytes / plainBytes,
      goals: [ratioAtMost(0.125)],
    },
  ];
}

/** Each pull is the first one of a new client group. */
function newClients(connection: Connection, size: number): Contender {
  let count = 0;
  return {
    pull: (keep) => new ClientGroup(connection, userOf(size), `first${size}.${++count}`).pull(keep),
  };
}

function copying(connection: Connection, size: number): Contender {
  return { pull: (keep) => connection.post(`/copy?user=${userOf(size)}`, 'nobody', '{}', { keep }) };
}

/** Verifies that both respond with the same ops before their times are compared. */
async function check(ours: Contender, bare: Contender, size: number): Promise<void> {
  const opsOf = async (contender: Contender) => {
    const { body } = await contender.pull(Number.POSITIVE_INFINITY);
    const { patch } = JSON.parse(body) as { patch: { op: string; key: string; value: unknown }[] };
    return new Map(patch.filter(({ op }) => op === 'put').map(({ key, value }) => [key, JSON.stringify(value)]));
  };
  const ourOps = await opsOf(ours);
  const bareOps = await opsOf(bare);
  const isSame = ourOps.size === bareOps.size && [...ourOps].every(([key, value]) => bareOps.get(key) === value);
  if (!isSame || ourOps.size <= size) {
    throw new Error(`the first pull of ${size} rows and the limit do not answer the same`);
  }
}

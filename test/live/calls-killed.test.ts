/**
 * A call with an idempotency key has its effect once, whatever is killed. To run it for longer:
 * `KILLS=2000 npx vitest run test/live/calls-killed.test.ts`
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { copyPatched, type Patch } from '../oracle/broken-copy.js';
import { callWhileKilling } from './killed-calls.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Ignored by git, and inside the package, so that the copies find their dependencies. */
const copies = join(root, '.tidemark', 'broken-calls');
const kills = Number(process.env.KILLS ?? 100);

afterAll(() => rmSync(copies, { recursive: true, force: true }));

test(
  'each call has its effect once, and one answer, while servers and backends are killed',
  async () => {
    const { faults, log, ...tally } = await callWhileKilling({ code: join(root, 'dist'), kills, seed: kills });
    if (process.env.KILLS !== undefined) console.log(tally);
    expect(faults).toEqual([]);
    expect(log).toBe('');
    // Else nothing has been tried.
    expect(tally.killedInFlight).toBeGreaterThan(kills);
    expect(tally.broken).toBeGreaterThan(kills);
    expect(tally.killedBackends).toBeGreaterThan(0);
    expect(tally.replayed).toBeGreaterThan(0);
    expect(tally.repeated).toBeGreaterThan(0);
  },
  60_000 + kills * 2_000,
);

const file = 'sync/calls.js';
const keep = 'await key?.keep(transaction, answer);';
const reply = "return outcome.status === 'applied'";

interface Fault {
  readonly name: string;
  readonly found: RegExp;
  readonly patches: readonly Patch[];
}

const faults: readonly Fault[] = [
  {
    name: 'an answer that is kept after the transaction of its call',
    found: /has its effect twice/,
    patches: [
      { file, find: keep, replace: '' },
      {
        file,
        find: reply,
        replace: `if (key && outcome.status === 'applied') await transact((late) => key.keep(late, outcome.result)); ${reply}`,
      },
    ],
  },
  {
    name: 'an answer that is kept before the transaction of its call',
    found: /has its effect 0 times/,
    patches: [{ file, find: keep, replace: 'if (key) await transact((early) => key.keep(early, answer));' }],
  },
];

test.each(faults)(
  'this finds $name',
  async ({ name, found, patches }) => {
    const code = copyPatched('dist', join(copies, name.replaceAll(' ', '-')), patches);
    // Half the connections of a server's pool: the faulty calls take two each.
    const report = await callWhileKilling({ code, kills: 10, clients: 5, seed: 5 });
    expect(report.faults.join('\n')).toMatch(found);
  },
  60_000,
);

/**
 * A call with an idempotency key has its effect once, whatever is killed. To run it for longer:
 * `KILLS=2000 npx vitest run test/integration/live/calls-killed.long.test.ts`
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { copyPatched } from '../../stress/oracle/broken-copy.js';
import { builtPackage, root } from '../../support/built.js';
import type { Patch } from '../../support/patch.js';
import { callWhileKilling } from './killed-calls.js';

/** Ignored by git, and inside the package, so that the copies find their dependencies. */
const copies = join(root, '.tidemark', 'broken-calls');
const kills = Number(process.env.KILLS ?? 100);

afterAll(() => rmSync(copies, { recursive: true, force: true }));

it(
  'each call has its effect once, and one answer, while servers and backends are killed',
  async () => {
    const { faults, log, ...tally } = await callWhileKilling({ code: builtPackage, kills, seed: kills });
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

const file = 'writes/calls.js';
const keep = 'last(key.keep(answer));';
/** Keeps the answer in a transaction of its own. */
const keepApart = (answer: string) =>
  `await transact(({ query }) => query(key.keep(${answer}).text, key.keep(${answer}).values), []);`;
const reply = "return outcome.status === 'applied'";
/** So that a kill is likely to fall between the two transactions. */
const pause = 'await new Promise((resolve) => setTimeout(resolve, 10));';

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
      { file, find: keep, replace: ';' },
      {
        file,
        find: reply,
        replace: `if (key && outcome.status === 'applied') {
          ${pause}
          ${keepApart('outcome.result')}
        }
        ${reply}`,
      },
    ],
  },
  {
    name: 'an answer that is kept before the transaction of its call',
    found: /has its effect 0 times/,
    patches: [{ file, find: keep, replace: `{ ${keepApart('answer')} ${pause} }` }],
  },
];

it.each(faults)(
  'this finds $name',
  async ({ name, found, patches }) => {
    const code = copyPatched('dist', join(copies, name.replaceAll(' ', '-')), patches);
    let told = '';
    // Where the kills fall is chance, so there may be more of them.
    for (let seed = 1; seed <= 20 && !found.test(told); seed++) {
      // Half the connections of a server's pool: the faulty calls take two each.
      const report = await callWhileKilling({ code, kills: 10, clients: 5, seed });
      told = report.faults.join('\n');
    }
    expect(told).toMatch(found);
  },
  240_000,
);

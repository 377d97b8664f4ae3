/**
 * A call with an idempotency key has its effect once, whatever is killed. For a longer run:
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
    // Otherwise, the kills have tested nothing.
    expect(tally.killedInFlight).toBeGreaterThan(kills);
    expect(tally.broken).toBeGreaterThan(kills);
    expect(tally.killedBackends).toBeGreaterThan(0);
    expect(tally.replayed).toBeGreaterThan(0);
    expect(tally.repeated).toBeGreaterThan(0);
  },
  60_000 + kills * 2_000,
);

const file = 'writes/calls.js';
const keep = 'last(key.store(answer));';
/** Stores the answer in a separate transaction. */
const keepApart = (answer: string) =>
  `await transact(({ query }) => query(key.store(${answer}).text, key.store(${answer}).values), []);`;
const reply = "return outcome.status === 'applied'";
/** Makes a kill between the two transactions likely. */
const pause = 'await new Promise((resolve) => setTimeout(resolve, 10));';

interface Fault {
  readonly name: string;
  readonly expected: RegExp;
  readonly patches: readonly Patch[];
}

const faults: readonly Fault[] = [
  {
    name: 'an answer that is stored after the transaction of its call',
    expected: /has its effect twice/,
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
    name: 'an answer that is stored before the transaction of its call',
    expected: /has its effect 0 times/,
    patches: [{ file, find: keep, replace: `{ ${keepApart('answer')} ${pause} }` }],
  },
];

it.each(faults)(
  'the test above finds $name',
  async ({ name, expected, patches }) => {
    const code = copyPatched('dist', join(copies, name.replaceAll(' ', '-')), patches);
    let violations = '';
    // Kills fall at random points, so a fault may need several runs.
    for (let seed = 1; seed <= 20 && !expected.test(violations); seed++) {
      // Half the connections of a server's pool, because a faulty call takes two.
      const report = await callWhileKilling({ code, kills: 10, clients: 5, seed });
      violations = report.faults.join('\n');
    }
    expect(violations).toMatch(expected);
  },
  240_000,
);

/** The test of killed calls detects an answer that is not stored in the transaction of its call. */
import { afterAll, expect, it } from 'vitest';
import { callWhileKilling } from '../../integration/live/killed-calls.js';
import type { Patch } from '../../support/patch.js';
import { copyBroken, removeCopies } from '../oracle/broken-copy.js';

afterAll(removeCopies);

const file = 'writes/calls/calls.js';
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
  'the test of killed calls detects $name',
  async ({ name, expected, patches }) => {
    const code = copyBroken('dist', name, patches);
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

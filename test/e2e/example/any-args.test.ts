/** For any args, a mutator succeeds or refuses. It never fails in Postgres. */
import fc from 'fast-check';
import { afterAll, beforeAll, it } from 'vitest';
import { accounts } from '../../../examples/tasks/src/accounts.js';
import { mutators } from '../../../examples/tasks/src/mutators.js';
import { createTransact } from '../../../packages/tidemark/src/db/transact.js';
import { MutatorError } from '../../../packages/tidemark/src/errors.js';
import { findUnstorable } from '../../../packages/tidemark/src/protocol/json.js';
import { InvalidArgsError, validate } from '../../../packages/tidemark/src/registry/prepare.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { createSeeded } from './seeded.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await createSeeded(database.pool);
});
afterAll(() => database.drop());

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 250 }),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.constantFrom('\0', 'a\0b', '', ' ', '\\', "'", '\\u0000', '\ufeff', '🔑'.repeat(100), 'x'.repeat(1001)),
);
const id = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('ann-home', 'ann-work', 'ben-garden', 'cam-books', 'ann-home-1', 'x', 'y') },
  text,
);
const number = fc.oneof(
  fc.double(),
  fc.integer({ min: -1, max: 20 }),
  fc.constantFrom(-0, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 31, 2 ** 63),
);
const args = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        id,
        listID: id,
        userID: fc.oneof(fc.constantFrom(...accounts), text),
        name: text,
        title: text,
        done: fc.boolean(),
        sort: number,
        count: number,
      },
      { requiredKeys: ['id', 'listID'] },
    ),
  },
  fc.jsonValue(),
);

it('every mutator accepts or refuses any args, and never fails in Postgres', async () => {
  const transact = createTransact(database.pool);
  const property = fc.asyncProperty(
    fc.constantFrom(...mutators.values()),
    fc.constantFrom(...accounts),
    args.filter((value) => findUnstorable(value) === undefined),
    async ({ validator, run, result }, userID, value) => {
      try {
        const valid = await validate(validator, value);
        const returned = await transact(async (tx) => run({ tx, args: valid, ctx: { userID } }));
        await validate(result, returned).catch((error) =>
          Promise.reject(new Error('a result is bad', { cause: error })),
        );
      } catch (error) {
        if (!(error instanceof MutatorError || error instanceof InvalidArgsError)) throw error;
      }
    },
  );
  await fc.assert(property, { numRuns: 1500 });
});

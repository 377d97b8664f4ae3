/** Tests the documentation of mutators for REST callers, with examples for the demo's data. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { schemas } from '../../../examples/tasks/src/args.js';
import { mutators } from '../../../examples/tasks/src/mutators.js';
import { MutatorError } from '../../../packages/tidemark/src/errors.js';
import { validate } from '../../../packages/tidemark/src/registry/prepare.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { createSeeded } from './seeded.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await createSeeded(database.pool);
});
afterAll(() => database.drop());

const examples = [...mutators].flatMap(([name, { examples = {} }]) =>
  Object.entries(examples).map(([text, args]) => [name, text, args] as const),
);

describe.each([...mutators])('the mutator %s', (_, { summary, description, examples = {} }) => {
  it('has a summary, a description and an example', () => {
    expect(summary).toMatch(/^[A-Z][^.]+$/);
    expect(description).toMatch(/^[A-Z].+\.$/);
    expect(Object.keys(examples)).not.toHaveLength(0);
  });
});

describe.each(Object.entries(schemas))('the args of %s', (_, schema) => {
  it('each have a description', () => {
    const { properties } = z.toJSONSchema(schema as z.ZodType, { io: 'input' });
    for (const property of Object.values(properties!)) expect(property).toHaveProperty('description');
  });
});

it.each(examples)(
  'the example of %s "%s" succeeds for Ann, or is refused as its name says',
  async (name, text, args) => {
    const { validator, run, result } = mutators.get(name)!;
    const valid = await validate(validator, args);
    const client = await database.pool.connect();
    try {
      await client.query('begin isolation level repeatable read');
      const outcome = Promise.resolve(run({ tx: client, args: valid, ctx: { userID: 'ann' } }));
      if (text.endsWith(': refused')) {
        await expect(outcome).rejects.toBeInstanceOf(MutatorError);
      } else {
        const returned = await outcome;
        expect(await validate(result, returned)).toEqual(returned);
      }
    } finally {
      await client.query('rollback');
      client.release();
    }
  },
);

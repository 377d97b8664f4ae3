/** The same args, checked by validators of four libraries. Each describes them, and refuses other args. */
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { defineMutators, mutatorFor } from '../../../packages/tidemark/src/registry/mutators.js';
import { createRest } from '../../../packages/tidemark/src/rest.js';
import { memoryLog } from '../../support/log.js';

const validators = {
  'zod 4': z.object({ id: z.string().min(1), sort: z.number(), done: z.boolean().optional() }),
  'zod/mini': mini.object({
    id: mini.string().check(mini.minLength(1)),
    sort: mini.number(),
    done: mini.optional(mini.boolean()),
  }),
  valibot: v.object({ id: v.pipe(v.string(), v.minLength(1)), sort: v.number(), done: v.optional(v.boolean()) }),
  arktype: type({ id: 'string >= 1', sort: 'number', 'done?': 'boolean' }),
};

describe.each(Object.entries(validators))('a validator of %s', (_, validator) => {
  const { log, lines } = memoryLog();
  const create = mutatorFor<UserContext, null>()(validator, ({ args }) => args);
  const rest = createRest<UserContext, null>({
    mutators: defineMutators({ todo: { create } }),
    transact: (work) => work(null),
    authenticate: () => ({ userID: 'ann' }),
    log,
  });
  const call = async (args: unknown) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(args) };
    const response = await rest.fetch(new Request('http://localhost/api/mutators/todo/create', init));
    return { status: response.status, body: await response.json() };
  };

  it('is described in the document, without a warning', async () => {
    const response = await rest.fetch(new Request('http://localhost/api/openapi.json'));
    const { components } = (await response.json()) as { components: { schemas: Record<string, object> } };
    expect(components.schemas.TodoCreateArgs).toMatchObject({
      type: 'object',
      properties: { id: { type: 'string', minLength: 1 }, sort: { type: 'number' }, done: { type: 'boolean' } },
      required: ['id', 'sort'],
    });
    expect(lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('accepts correct args', async () => {
    const args = { id: 'a', sort: 1.5, done: true };
    expect(await call(args)).toEqual({ status: 200, body: { ok: true, result: args } });
  });

  it.each([
    [{ id: 'a', sort: '1' }, [['sort']]],
    [{ sort: 1 }, [['id']]],
    [{ id: '', sort: 1, done: 'yes' }, [['done'], ['id']]],
    [[], undefined],
    [null, [[]]],
    ['todo', [[]]],
  ])('refuses %j with 422 and the paths of the errors', async (args, paths) => {
    const { status, body } = await call(args);
    expect(status).toBe(422);
    const { code, issues } = body as { code: string; issues: { path: string[]; message: string }[] };
    expect(code).toBe('invalid-args');
    if (paths) expect(issues.map(({ path }) => path).sort()).toEqual(paths);
    for (const { message } of issues) expect(message).not.toBe('');
  });
});

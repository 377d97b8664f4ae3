import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Served, serve } from './served.js';

let served: Served;

beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.close());
beforeEach(async () => {
  served.hooks.onHook = (args) => args;
  await served.database.pool.query('delete from note');
});

const create = (id: string) => ({ name: 'note.create', args: { id } });

describe('a batch', () => {
  it('runs its calls in order, and answers each', async () => {
    const response = await served.call('', [
      create('a'),
      create('b'),
      { name: 'note.count' },
      { name: 'hook', args: [1] },
    ]);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual([
      { ok: true }, { ok: true }, { ok: true, result: { notes: 2 } }, { ok: true, result: [1] },
    ]); // biome-ignore format: a row
    expect(await served.notes()).toEqual(['a', 'b']);
  });

  it('may be empty', async () => {
    expect(await (await served.call('', [])).json()).toEqual([]);
  });

  it.each([
    ['an unknown name', [create('a'), { name: 'nobody' }], 404, 'unknown-mutator', 1],
    ['args that the validator refuses', [create('a'), create('b'), create('')], 422, 'invalid-args', 2],
    [
      'a mutator that refuses',
      [create('a'), { name: 'note.refuse', args: { id: 'x' } }, create('b')],
      409,
      'mutator-error',
      1,
    ],
    ['a mutator that fails', [create('a'), create('a')], 409, 'conflict', 1],
    ['the name __proto__', [{ name: '__proto__' }], 404, 'unknown-mutator', 0],
  ])('with %s stores nothing, and the error names the call', async (_, batch, status, code, index) => {
    const response = await served.call('', batch);
    const body = (await response.json()) as { detail: string };
    expect(body).toMatchObject({ status, code, index });
    expect(response.status).toBe(status);
    expect(body.detail).toContain(`Call ${index}`);
    expect(await served.notes()).toEqual([]);
  });

  it.each([[[1]], [[null]], [[[]]], [[{}]], [[{ name: 1 }]], [[create('a'), { args: {} }]]])(
    'is malformed if an entry is not a call: %j',
    async (batch) => {
      expect(await (await served.call('', batch)).json()).toMatchObject({ status: 400, code: 'malformed-request' });
      expect(await served.notes()).toEqual([]);
    },
  );

  it('is malformed if it has too many calls', async () => {
    const calls = (count: number) => Array.from({ length: count }, () => ({ name: 'hook' }));
    expect((await served.call('', calls(1_000))).status).toBe(200);
    expect(await (await served.call('', calls(1_001))).json()).toMatchObject({
      status: 400,
      code: 'malformed-request',
    });
  });

  it('stores nothing if its commit fails', async () => {
    const at = (id: string) => ({ name: 'note.at', args: { id, at: 1 } });
    const response = await served.call('', [at('a'), at('b')]);
    const body = await response.json();
    expect(body).toMatchObject({ status: 409, code: 'conflict' });
    expect(body).not.toHaveProperty('index');
    expect(await served.notes()).toEqual([]);
  });
});

describe('a dry run', () => {
  const dryRun = { Prefer: 'tx=rollback' };

  it('runs, stores nothing, and says so', async () => {
    const response = await served.call('', [create('a'), { name: 'note.count' }], dryRun);
    expect(response.headers.get('Preference-Applied')).toBe('tx=rollback');
    expect(await response.json()).toEqual([
      { ok: true, rolledBack: true }, { ok: true, rolledBack: true, result: { notes: 1 } },
    ]); // biome-ignore format: a row
    expect(await (await served.call('/note/create', { id: 'a' }, dryRun)).json()).toEqual({
      ok: true,
      rolledBack: true,
    });
    expect(await served.notes()).toEqual([]);
  });

  it('fails as the real call would, also at the commit', async () => {
    await served.call('/note/at', { id: 'a', at: 1 });
    expect((await served.call('/note/at', { id: 'b', at: 1 }, dryRun)).status).toBe(409);
    expect((await served.call('/note/refuse', { id: 'b' }, dryRun)).status).toBe(409);
    expect((await served.call('/note/create', {}, dryRun)).status).toBe(422);
  });

  it.each(['respond-async, tx=rollback', 'TX="rollback"; x=1', 'tx = rollback'])(
    'is requested by the preference "%s"',
    async (prefer) => {
      await served.call('/note/create', { id: 'a' }, { Prefer: prefer });
      expect(await served.notes()).toEqual([]);
    },
  );

  it.each(['tx=commit', 'tx=rollbacks', 'x=tx=rollback', 'return=minimal', ''])(
    'is not requested by the preference "%s"',
    async (prefer) => {
      const response = await served.call('/note/create', { id: 'a' }, { Prefer: prefer });
      expect(response.headers.has('Preference-Applied')).toBe(false);
      expect(await served.notes()).toEqual(['a']);
    },
  );
});

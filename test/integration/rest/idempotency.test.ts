import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Served, serve } from './served.js';

let served: Served;

beforeAll(async () => {
  served = await serve({ rest: { idempotencyRetentionSeconds: 60 } });
});
afterAll(() => served.close());
beforeEach(async () => {
  served.hooks.onHook = (args) => args;
  await served.database.pool.query('delete from note; delete from tidemark.idempotency_key');
});

const create = (key: string, args: unknown = { id: 'a' }, headers: Record<string, string> = {}) =>
  served.call('/note/create', args, { 'Idempotency-Key': key, ...headers });
const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;

/** Makes the next call of the mutator `hook` wait. Returns what lets it continue. */
function hold() {
  let release!: (result: unknown) => void;
  const outcome = new Promise((resolve) => {
    release = resolve;
  });
  const begun = new Promise<void>((resolve) => {
    served.hooks.onHook = () => {
      served.hooks.onHook = (args) => args;
      resolve();
      return outcome;
    };
  });
  return { begun, release };
}

describe('a call with an idempotency key', () => {
  it('runs once, and gets the same response from then on', async () => {
    let runs = 0;
    served.hooks.onHook = () => ({ runs: ++runs });
    const call = () => served.call('/hook', { b: 1, a: [2] }, { 'Idempotency-Key': 'k' });
    const first = await call();
    expect(first.headers.get('Idempotent-Replayed')).toBeNull();
    const text = await first.text();
    expect(text).toBe('{"ok":true,"result":{"runs":1}}');
    for (let i = 0; i < 3; i++) {
      const again = await call();
      expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      expect(await again.text()).toBe(text);
    }
    expect(runs).toBe(1);
  });

  it('may have its arguments in another order', async () => {
    await served.call('/hook', { a: 1, b: { c: 2, d: 3 } }, { 'Idempotency-Key': 'k' });
    const again = await served.call('/hook', { b: { d: 3, c: 2 }, a: 1 }, { 'Idempotency-Key': 'k' });
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  });

  it('may have its key quoted, as in the draft, or bare', async () => {
    expect((await create('"8e03978e-40d5"')).status).toBe(200);
    expect((await create('8e03978e-40d5')).headers.get('Idempotent-Replayed')).toBe('true');
    expect((await create('"a \\"quote\\""', { id: 'q' })).status).toBe(200);
    expect((await create('a "quote"', { id: 'q' })).headers.get('Idempotent-Replayed')).toBe('true');
    const { rows } = await served.database.pool.query('select key from tidemark.idempotency_key order by key');
    expect(rows).toEqual([{ key: '8e03978e-40d5' }, { key: 'a "quote"' }]);
  });

  it.each(['', '"', '""', '"open', 'x'.repeat(256), '"é"'])('is refused with the key %s', async (key) => {
    expect(await codeOf(await create(key))).toBe('malformed-request');
    expect(await served.notes()).toEqual([]);
  });

  it('is refused, and does not run, with other arguments or for another mutator', async () => {
    await create('k');
    const other = await create('k', { id: 'b' });
    expect([other.status, await codeOf(other)]).toEqual([422, 'idempotency-key-reused']);
    const another = await served.call('/hook', { id: 'a' }, { 'Idempotency-Key': 'k' });
    expect([another.status, await codeOf(another)]).toEqual([422, 'idempotency-key-reused']);
    // Null args differ from no args.
    await served.call('/hook', undefined, { 'Idempotency-Key': 'n' });
    expect((await served.call('/hook', null, { 'Idempotency-Key': 'n' })).status).toBe(422);
    expect(await served.notes()).toEqual(['a']);
  });

  it('is independent of a call with the same key of another user', async () => {
    await create('k');
    const ben = await create('k', { id: 'b' }, { Authorization: 'Bearer ben' });
    expect(ben.status).toBe(200);
    expect(ben.headers.get('Idempotent-Replayed')).toBeNull();
    expect(await served.notes()).toEqual(['a', 'b']);
  });

  it('does not wait for a call with the same key of another user', async () => {
    const { begun, release } = hold();
    const first = served.call('/hook', 1, { 'Idempotency-Key': 'k' });
    await begun;
    expect((await create('k', { id: 'b' }, { Authorization: 'Bearer ben' })).status).toBe(200);
    release(1);
    expect((await first).status).toBe(200);
  });

  it('is refused while the first one runs, and gets its response afterwards', async () => {
    const { begun, release } = hold();
    const first = served.call('/hook', 1, { 'Idempotency-Key': 'k' });
    await begun;
    const second = await served.call('/hook', 1, { 'Idempotency-Key': 'k' });
    expect([second.status, second.headers.get('Retry-After')]).toEqual([409, '1']);
    expect(await codeOf(second)).toBe('idempotency-key-in-flight');
    release('first');
    expect(await (await first).json()).toEqual({ ok: true, result: 'first' });
    expect(await (await served.call('/hook', 1, { 'Idempotency-Key': 'k' })).json()).toEqual({
      ok: true,
      result: 'first',
    });
  });

  it('runs once if it is sent many times simultaneously', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('k')));
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    expect(answers.filter((answer) => answer.ok && !answer.headers.has('Idempotent-Replayed'))).toHaveLength(1);
    expect(await served.notes()).toEqual(['a']);
  });

  it('runs again if it failed, because nothing of it was stored', async () => {
    await create('other');
    expect((await create('k')).status).toBe(409);
    await served.database.pool.query('delete from note');
    const again = await create('k');
    expect(again.status).toBe(200);
    expect(again.headers.get('Idempotent-Replayed')).toBeNull();
  });

  it('runs again after the retention of its key', async () => {
    await create('k');
    const age = (seconds: number) =>
      served.database.pool.query(
        'update tidemark.idempotency_key set created_at = now() - make_interval(secs => $1)', [seconds],
      ); // biome-ignore format: one statement
    await age(55);
    expect((await create('k')).headers.get('Idempotent-Replayed')).toBe('true');
    await age(61);
    const other = await create('k', { id: 'b' });
    expect(other.status).toBe(200);
    expect((await create('k', { id: 'b' })).headers.get('Idempotent-Replayed')).toBe('true');
    expect(await served.notes()).toEqual(['a', 'b']);
  });

  it('may be a batch', async () => {
    const batch = [{ name: 'note.create', args: { id: 'a' } }, { name: 'note.count' }];
    const first = await served.call('', batch, { 'Idempotency-Key': 'k' });
    const again = await served.call('', batch, { 'Idempotency-Key': 'k' });
    expect(await again.text()).toBe(await first.text());
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await served.call('', batch.slice(1), { 'Idempotency-Key': 'k' })).status).toBe(422);
    // A single call differs from a batch of one call.
    expect((await served.call('/note/count', undefined, { 'Idempotency-Key': 'n' })).status).toBe(200);
    expect((await served.call('', [{ name: 'note.count' }], { 'Idempotency-Key': 'n' })).status).toBe(422);
  });

  it('leaves no trace if it is a dry run', async () => {
    expect((await create('k', { id: 'a' }, { Prefer: 'tx=rollback' })).status).toBe(200);
    const real = await create('k');
    expect(real.headers.get('Idempotent-Replayed')).toBeNull();
    const other = await create('k', { id: 'b' }, { Prefer: 'tx=rollback' });
    expect(await other.json()).toEqual({ ok: true, rolledBack: true });
    expect(await served.notes()).toEqual(['a']);
  });
});

it('the first call with a key after a while prunes old keys', async () => {
  const fresh = await serve({ rest: { idempotencyRetentionSeconds: 60 } });
  try {
    await fresh.database.pool.query(`
      insert into tidemark.idempotency_key (user_id, key, fingerprint, answer, created_at)
      select 'ben', n::text, '', '', now() - make_interval(secs => n) from generate_series(1, 120) n`);
    await fresh.call('/hook', 1, { 'Idempotency-Key': 'k' });
    await expect
      .poll(async () => (await fresh.database.pool.query('select from tidemark.idempotency_key')).rowCount)
      .toBeLessThanOrEqual(60);
  } finally {
    await fresh.close();
  }
});

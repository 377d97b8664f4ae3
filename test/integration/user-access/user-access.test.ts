/** Code of the server reads views and calls mutators as a user, with the same outcome as over REST. */
import { describe, expect, it, vi } from 'vitest';
import { Problem } from '../../../packages/tidemark/src/index.js';
import { hooks, problemIn, problemOf, setUpApplication } from './accessed.js';

const application = setUpApplication();
const as = (userID?: string) => application.server.as(userID);

describe('a view', () => {
  it('has the rows of its user, as clients and REST callers receive them', async () => {
    await as().mutate.note.create({ id: 20, body: 'b' });
    await as().mutate.note.create({ id: 3, body: 'a, \n[]' });
    await as('ben').mutate.note.create({ id: 4 });
    const { rows } = await as().view('note').rows();
    const at = '1970-01-01T00:00:00Z';
    expect(rows).toEqual(
      expect.arrayContaining([
        { id: 3, body: 'a, \n[]', at },
        { id: 20, body: 'b', at },
      ]),
    );
    expect(rows).toEqual(await (await application.server.send('/api/views/note')).json());
    expect((await as('cam').view('note').rows()).rows).toEqual([]);
  });

  it('has a cookie from which REST reads continue', async () => {
    await as().mutate.note.create({ id: 1 });
    const { cookie } = await as().view('note').rows();
    const changes = async () => (await (await application.server.send(`/api/views/note?since=${cookie}`)).json()).patch;
    expect(await changes()).toEqual([]);
    await as().mutate.note.create({ id: 2, body: 'b' });
    expect(await changes()).toEqual([{ op: 'put', key: 'note/2', value: expect.objectContaining({ id: 2 }) }]);
  });

  it('has rows by key, which may consist of several columns', async () => {
    await as().mutate.note.create({ id: 1 });
    await application.database.pool.query(`insert into tag values ('a/b%', 'c', 'ann')`);
    expect(await as().view('note').row(1)).toMatchObject({ id: 1, body: 'new' });
    expect(await as().view('note').row('1')).toMatchObject({ id: 1 });
    expect(await as().view('tag').row(['a/b%', 'c'])).toEqual({ note: 'a/b%', name: 'c' });
  });

  it.each(['2', 'x', '', '\0', '\ud800'])('has no row with the key %j', async (key) => {
    await as().mutate.note.create({ id: 1 });
    expect(await as().view('note').row(key)).toBeUndefined();
    expect(await as('ben').view('note').row(1)).toBeUndefined();
  });

  it('has the inputs of a REST read without parameters', async () => {
    await as().mutate.note.create({ id: 1 });
    const { sync, send } = await application.serve({ schemaVersions: ['7', '8'] });
    const { rows } = await sync.as({ userID: 'ann' }).view('version').rows();
    expect(rows).toEqual([{ id: 1, profile: '', version: '7' }]);
    expect(rows).toEqual(await (await send('/api/views/version')).json());
    await sync.close();
  });

  it('that does not exist is refused as over REST', async () => {
    const unknown = { code: 'unknown-view', status: 404, detail: 'There is no view of this name' };
    for (const name of ['notes', 'constructor', '__proto__', '']) {
      const view = as().view(name as 'note');
      expect(await problemOf(view.rows())).toEqual(unknown);
      expect(await problemOf(view.row(1))).toEqual(unknown);
    }
    expect(await problemIn(await application.server.send('/api/views/notes'))).toEqual(unknown);
  });
});

describe('a call', () => {
  it('has the result of its mutator, without JSON in between', async () => {
    expect(await as().mutate.note.create({ id: 1 })).toBeUndefined();
    expect(await as().mutate.note.count()).toEqual({ notes: 1, at: new Date(0) });
    const passed: unknown[] = [];
    const ctx = { userID: 'ann', team: 'a' };
    hooks.onHook = (call) => passed.push(call.args, call.ctx);
    const args = { when: new Date(5) };
    expect(await application.server.sync.as(ctx).mutate.hook.deep(args)).toBe(2);
    await application.server.sync.as(ctx).mutate['hook.deep']();
    expect(passed).toEqual([args, ctx, undefined, ctx]);
    expect(await as().mutate.driver()).toBeUndefined();
  });

  it.each<[string, unknown, object]>([
    ['note.refuse', { id: 1 }, { code: 'mutator-error', status: 409, details: { by: 'ben' } }],
    ['note.create', { id: 'a' }, { code: 'invalid-args', status: 422, issues: [{ path: ['id'] }] }],
    ['note.create', { id: 7 }, { code: 'conflict', status: 409 }],
    ['note.create', { id: 2 ** 40 }, { code: 'invalid-values', status: 422 }],
    ['note.delete', {}, { code: 'unknown-mutator', status: 404 }],
    ['constructor', {}, { code: 'unknown-mutator', status: 404 }],
  ])('of %s with %j is refused as over REST', async (name, args, expected) => {
    await as().mutate.note.create({ id: 7 });
    const mutate = as().mutate as unknown as Record<string, (args: unknown) => Promise<unknown>>;
    const problem = await problemOf(mutate[name]!(args));
    expect(problem).toMatchObject(expected);
    expect(problem).toEqual(
      await problemIn(await application.server.send(`/api/mutators/${name.replace('.', '/')}`, args)),
    );
    expect((await as().view('note').rows()).rows).toHaveLength(1);
  });

  it('that fails unexpectedly has the cause, which is logged', async () => {
    const cause = new Error('broken');
    hooks.onHook = () => Promise.reject(cause);
    const error = await as()
      .mutate.hook.deep()
      .catch((error: unknown) => error);
    expect(error).toMatchObject({ name: 'Problem', code: 'internal', cause });
    const [failure] = application.server.lines.filter(({ level }) => level === 'error');
    expect(failure).toMatchObject({ message: 'A request failed', fields: { error: { message: 'broken' } } });
  });

  it('runs only if it is called', async () => {
    hooks.onHook = vi.fn();
    const { mutate } = as();
    expect(await mutate).toBeDefined();
    expect(JSON.stringify({ mutate })).toBe('{}');
    expect(hooks.onHook).not.toHaveBeenCalled();
  });

  it('is explained by the option mapError', async () => {
    const { sync } = await application.serve({ mapError: () => new Problem('forbidden', 'Not today') });
    hooks.onHook = () => Promise.reject(new Error('broken'));
    expect(await problemOf(sync.as({ userID: 'ann' }).mutate.hook.deep())).toMatchObject({ code: 'forbidden' });
    await sync.close();
  });
});

describe('a batch', () => {
  it('runs its calls in order in one transaction, and has their results', async () => {
    const create = (id: number) => ({ name: 'note.create', args: { id } }) as const;
    const results = await as().batch([create(1), create(2), { name: 'note.count' }]);
    expect(results).toEqual([undefined, undefined, { notes: 2, at: new Date(0) }]);
    const { rows } = await application.database.pool.query('select distinct xmin from note');
    expect(rows).toHaveLength(1);
    expect(await as().batch([])).toEqual([]);
  });

  it('stores nothing if a call fails, and fails as over REST', async () => {
    const calls = [
      { name: 'note.create', args: { id: 1 } },
      { name: 'note.refuse', args: { id: 2 } },
    ] as const;
    const problem = await problemOf(as().batch(calls));
    expect(problem).toMatchObject({ code: 'mutator-error', index: 1, details: { by: 'ben' } });
    expect(problem).toEqual(await problemIn(await application.server.send('/api/mutators', calls)));
    expect((await as().view('note').rows()).rows).toEqual([]);
  });

  it.each([[[1]], [[{}]], [[{ name: 1 }]], [Array(1_001).fill({ name: 'driver' })]])(
    'that is malformed is refused as over REST',
    async (calls) => {
      const problem = await problemOf(as().batch(calls as never));
      expect(problem).toMatchObject({ code: 'malformed-request', status: 400 });
      expect(problem).toEqual(await problemIn(await application.server.send('/api/mutators', calls)));
    },
  );
});

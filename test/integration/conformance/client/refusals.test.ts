import { describe, expect, it } from 'vitest';
import { mutators } from '../../../../examples/tasks/src/mutators.js';
import { defineMutator } from '../../../../packages/tidemark/src/registry/mutators.js';
import { until } from './client.js';
import { useFixture } from './fixture.js';

const explode = defineMutator(() => {
  throw new Error('the mutator itself is broken');
});

const duplicate = defineMutator(({ tx }) => tx.query('insert into list select * from list'));

const fixture = useFixture({
  mutators: new Map([...mutators, ['explode', explode], ['duplicate', duplicate]]),
  schemaVersions: ['', '1'],
});
const { client } = fixture;

describe('a response of 401', () => {
  it('makes the client call getAuth and continue with its result, on pull and on push', async () => {
    await fixture.server.pool.query("insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries')");
    fixture.expectErrors(/non 200 response doing pu(ll|sh): 401/);
    const ann = client('ann', { auth: 'Bearer expired session' });
    let calls = 0;
    ann.rep.getAuth = () => {
      calls++;
      return 'Bearer ann';
    };
    await ann.pullUntil(async () => (await ann.keys()).length === 1);
    const [refused, accepted] = fixture.wire.pulls();
    expect(refused).toMatchObject({
      status: 401,
      authorization: 'Bearer expired session',
      answer: { code: 'unauthenticated' },
    });
    expect(accepted).toMatchObject({ status: 200, authorization: 'Bearer ann' });

    ann.rep.auth = 'Bearer expired session';
    await ann.rep.mutate['list.create']({ id: 'b', name: 'Garden' });
    await until(() => fixture.wire.pushes().length >= 2);
    expect(fixture.wire.pushes().map(({ status }) => status)).toEqual([401, 200]);
    await ann.settle();
    expect(calls).toBeGreaterThanOrEqual(2);
    expect(ann.rep.auth).toBe('Bearer ann');
  });
});

describe('a mutation that can never be applied', () => {
  const poisons: [string, string, unknown][] = [
    ['with args that the validator refuses', 'list.create', { id: 'p', name: 7 }],
    ['without args', 'list.create', undefined],
    ['with a name that no mutator has', 'list.explode', { id: 'p' }],
    ['with the name __proto__', '__proto__', { id: 'p' }],
    ['that breaks a constraint', 'duplicate', null],
    ['with an ID that is taken', 'list.create', { id: 'first', name: 'Twice' }],
    ['that is not allowed', 'todo.create', { id: 'p', listID: 'of nobody', title: '', sort: 1 }],
    ['whose mutator throws', 'explode', null],
  ];

  it.each(poisons)('%s is rolled back, and does not block later mutations', async (_, name, args) => {
    const ann = client('ann', { moreMutators: { [name]: (tx) => tx.set('list/poison', { id: 'poison' }) } });
    await ann.rep.mutate['list.create']({ id: 'first', name: 'First' });
    await (ann.rep.mutate as Record<string, (args: unknown) => Promise<void>>)[name]!(args);
    await ann.rep.mutate['list.create']({ id: 'last', name: 'Last' });
    expect(await ann.keys()).toContain('list/poison');
    const mark = fixture.server.lines.length;
    await ann.settle();
    expect(await ann.keys()).toEqual(['list/first', 'list/last']);
    expect((await ann.entries())['list/first']).toMatchObject({ name: 'First' });
    const failures = fixture.server.lines.slice(mark).filter(({ message }) => message.startsWith('Skipped a mutation'));
    expect(failures).toMatchObject([{ fields: { mutator: name, mutationID: 2 } }]);
  });
});

describe('a schema version', () => {
  const reason = { type: 'VersionNotSupported', versionType: 'schema' };

  it('that is not served is reported on pull', async () => {
    const reasons: unknown[] = [];
    const ann = client('ann', { schemaVersion: '2' });
    ann.rep.onUpdateNeeded = (newReason) => reasons.push(newReason);
    await until(() => reasons.length > 0);
    expect(reasons[0]).toEqual(reason);
    expect(fixture.wire.pulls()[0]).toMatchObject({ status: 200, answer: { error: 'VersionNotSupported' } });
  });

  it('that is not served is reported on push, and the mutation stays pending', async () => {
    const reasons: unknown[] = [];
    const ann = client('ann', { schemaVersion: '2', pullURL: '' });
    ann.rep.onUpdateNeeded = (newReason) => reasons.push(newReason);
    await ann.rep.mutate['list.create']({ id: 'a', name: 'Groceries' });
    await until(() => reasons.length > 0);
    expect(reasons[0]).toEqual(reason);
    expect(await ann.pending()).toBe(1);
    expect((await fixture.server.pool.query('select from list')).rowCount).toBe(0);
  });

  it('that is served works', async () => {
    const ann = client('ann', { schemaVersion: '1' });
    await ann.rep.mutate['list.create']({ id: 'a', name: 'Groceries' });
    await ann.settle();
    expect(await ann.keys()).toEqual(['list/a']);
  });
});

describe('a client', () => {
  it.each(['its record', 'its record and its group'])(
    'learns on push that the server has lost %s, and the next client works',
    async (lost) => {
      const ann = client('ann');
      fixture.expectErrors(/Client state not found/);
      fixture.expectErrors(/Client state not found/);
      let notFound = 0;
      ann.rep.onClientStateNotFound = () => notFound++;
      await ann.rep.mutate['list.create']({ id: 'a', name: 'Groceries' });
      await ann.settle();
      await ann.persisted();
      await fixture.server.pool.query('delete from tidemark.client');
      if (lost.includes('group')) await fixture.server.pool.query('delete from tidemark.client_group');
      await ann.rep.mutate['list.create']({ id: 'b', name: 'Lost' });
      await until(() => notFound > 0);
      expect(fixture.wire.pushes().at(-1)).toMatchObject({ status: 200, answer: { error: 'ClientStateNotFound' } });
      expect((await fixture.server.pool.query('select id from list')).rows).toEqual([{ id: 'a' }]);

      const next = client('ann', { name: ann.rep.name });
      await next.rep.mutate['list.create']({ id: 'c', name: 'Garden' });
      await next.settle();
      expect(await next.keys()).toEqual(['list/a', 'list/c']);
      expect(await next.rep.clientGroupID).not.toBe(await ann.rep.clientGroupID);
    },
  );
});

describe("another user's client group", () => {
  it('is refused with 403 on pull and push, and nothing is applied or leaked', async () => {
    fixture.expectErrors(/non 200 response doing pu(ll|sh): 403/);
    await fixture.server.pool.query("insert into list (id, owner_id, name) values ('b', 'ben', 'Secret')");
    const shared = client('ann');
    await shared.rep.mutate['list.create']({ id: 'a', name: 'Groceries' });
    await shared.settle();
    shared.rep.auth = 'Bearer ben';
    await shared.rep.mutate['list.create']({ id: 'mixed', name: 'Whose?' });
    await shared.pullUntil(async () => fixture.wire.exchanges.filter(({ status }) => status === 403).length >= 4);
    const refused = fixture.wire.exchanges.filter(({ authorization }) => authorization === 'Bearer ben');
    expect(refused.every(({ status }) => status === 403)).toBe(true);
    expect(new Set(refused.map(({ path }) => path)).size).toBe(2);
    expect(JSON.stringify(refused.map(({ answer }) => answer))).not.toMatch(/Secret|Groceries/);
    expect(await shared.keys()).toEqual(['list/a', 'list/mixed']);
    expect((await fixture.server.pool.query("select from list where id = 'mixed'")).rowCount).toBe(0);

    shared.rep.auth = 'Bearer ann';
    await shared.settle();
    expect((await shared.entries())['list/mixed']).toMatchObject({ ownerID: 'ann' });
  });
});

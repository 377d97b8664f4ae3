/** Responses to errors of the database and of the application. */
import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type MapError, MutatorError, Problem } from '../../../packages/tidemark/src/errors.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createRest } from '../../../packages/tidemark/src/rest.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import type { TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { createSynced } from '../../support/synced.js';
import { expectProblem } from '../endpoints/requests.js';

class Full extends Error {}

const insert = (tx: ClientBase, id: string, room: unknown = null) =>
  tx.query('insert into seat (id, room) values ($1, $2)', [id, room]);

let meet: (() => Promise<void>) | undefined;

const mutators = defineMutators({
  take: defineMutator(z.object({ id: z.string(), room: z.unknown().optional() }), ({ tx, args }) =>
    insert(tx, args.id, args.room),
  ),
  plain: defineMutator(async ({ tx }) => {
    await insert(tx, 'left behind');
    throw new Full('the room of eve is full');
  }),
  refuse: defineMutator(() => {
    throw new MutatorError('Not today', { status: 410 });
  }),
  conflict: defineMutator(({ tx }) => tx.query("do $$ begin raise sqlstate '40001'; end $$")),
  query: defineMutator(({ tx, args }) => tx.query(args as string)),
  // As a query builder does.
  wrapped: defineMutator(({ tx }) =>
    tx
      .query('select 1 / 0')
      .catch((cause: unknown) => Promise.reject(new Error('Failed query: select 1 / 0', { cause }))),
  ),
  ensure: defineMutator(async ({ tx, args }) => {
    const { rowCount } = await tx.query('select from seat where id = $1', [args]);
    await meet?.();
    if (rowCount === 0) await insert(tx, args as string);
  }),
});

let database: TestDatabase;

beforeAll(async () => {
  const ddl = `
    create table room (id int primary key);
    create table seat (
      id varchar(20) primary key check (id <> 'none'),
      room int references room deferrable initially deferred
    );
    create table stay (during int4range, exclude using gist (during with &&));
    insert into stay values ('[1,5)')`;
  database = await createSynced(ddl, {});
});
afterAll(() => database.drop());
beforeEach(async () => {
  meet = undefined;
  await database.pool.query('truncate seat');
});

async function start(mapError?: MapError) {
  const { log, lines } = memoryLog();
  const authenticate = () => ({ userID: 'ann' });
  const sync = await createSync({ database: database.url, views: {}, mutators, authenticate, log, mapError });
  const post = (path: string, body: unknown) =>
    sync.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
  return {
    lines,
    [Symbol.asyncDispose]: () => sync.close(),
    call: (name: string, args: unknown = null) => post(`/api/mutators/${name}`, args),
    batch: (...calls: { name: string; args: unknown }[]) => post('/api/mutators', calls),
    /** Pushes one mutation, and returns how it was logged. */
    async push(name: string, args: unknown = null) {
      const mutations = [{ clientID: randomUUID(), id: 1, name, args, timestamp: 0 }];
      const body = { pushVersion: 1, clientGroupID: randomUUID(), profileID: 'p', schemaVersion: '', mutations };
      const response = await post('/sync/push', body);
      expect([response.status, await response.text()]).toEqual([200, '{}']);
      return lines.findLast(({ message }) => message.startsWith('Skipped'))?.level;
    },
  };
}

const seats = async () => (await database.pool.query('select id from seat order by id')).rows.map(({ id }) => id);

describe('without mapError', () => {
  it.each<[kind: string, status: number, code: string, name: string, args: unknown]>([
    ['a duplicate value', 409, 'conflict', 'take', { id: 'taken' }],
    ['a missing row at the commit', 409, 'conflict', 'take', { id: 'a', room: 7 }],
    ['an overlapping range', 409, 'conflict', 'query', "insert into stay values ('[2,3)')"],
    ['a value that is too long', 422, 'invalid-values', 'take', { id: 'a'.repeat(21) }],
    ['a value of another type', 422, 'invalid-values', 'take', { id: 'a', room: 'attic' }],
    ['a number out of range', 422, 'invalid-values', 'take', { id: 'a', room: 2 ** 40 }],
    ['a violated check', 422, 'invalid-values', 'take', { id: 'none' }],
    ['NULL in a column that forbids it', 422, 'invalid-values', 'query', 'insert into seat values (null)'],
    ['an error wrapped by a query builder', 422, 'invalid-values', 'wrapped', null],
    ['a wrong statement', 500, 'internal', 'query', 'selec'],
    ['an exception of a function', 500, 'internal', 'query', "do $$ begin raise 'eve'; end $$"],
  ])('%s gets a response with the status %d', async (_, status, code, name, args) => {
    await using server = await start();
    await server.call('take', { id: 'taken' });
    const { detail } = await expectProblem(await server.call(name, args), status, code);
    expect(detail).not.toMatch(/taken'|attic|seat|insert|select|eve\b/);
    expect(server.lines.filter(({ message }) => /^(The database refused|A request failed)/.test(message))).toHaveLength(
      1,
    );
    expect(await server.push(name, args)).toBe('error');
    expect(await seats()).toEqual(['taken']);
  });

  it('an error in a batch names the call, and stores nothing', async () => {
    await using server = await start();
    const calls = ['a', 'b', 'a'].map((id) => ({ name: 'take', args: { id } }));
    await expectProblem(await server.batch(...calls), 409, 'conflict', { index: 2 });
    expect(await seats()).toEqual([]);
  });
});

describe('mapError', () => {
  const mapError: MapError = (error) => {
    if (error instanceof Full) return new MutatorError('The room is full', { status: 409, details: { free: 0 } });
    const { constraint } = error as { constraint?: string };
    if (constraint === 'seat_pkey') return new MutatorError('The seat is taken', { status: 423 });
    return constraint === 'seat_room_fkey' ? new Problem('forbidden', 'No such room') : undefined;
  };

  it('determines the response to an error of the application', async () => {
    await using server = await start(mapError);
    const plain = await expectProblem(await server.call('plain'), 409, 'mutator-error', { details: { free: 0 } });
    expect(plain.detail).toBe('The room is full');
    await server.call('take', { id: 'a' });
    const taken = await expectProblem(await server.call('take', { id: 'a' }), 423, 'mutator-error');
    expect(taken.detail).toBe('The seat is taken');
    const missing = await expectProblem(await server.call('take', { id: 'b', room: 7 }), 403, 'forbidden');
    expect(missing.detail).toBe('No such room');
    const both = [
      { name: 'take', args: { id: 'b' } },
      { name: 'plain', args: null },
    ];
    await expectProblem(await server.batch(...both), 409, 'mutator-error', { details: { free: 0 }, index: 1 });
    expect(await seats()).toEqual(['a']);
  });

  it('does not change the responses to other errors', async () => {
    await using server = await start(mapError);
    await expectProblem(await server.call('take', { id: 'none' }), 422, 'invalid-values');
    await expectProblem(await server.call('query', 'selec'), 500, 'internal');
    await expectProblem(await server.call('refuse'), 410, 'mutator-error');
  });

  it('turns the failure of a mutation into a refusal', async () => {
    await using server = await start(mapError);
    expect(await server.push('plain')).toBe('info');
    expect(await server.push('take', { id: 'b', room: 7 })).toBe('info');
    expect(await server.push('take', { id: 'none' })).toBe('error');
    expect(await seats()).toEqual([]);
  });

  it('is not called for errors with a defined response, or for temporary ones', async () => {
    const errors: unknown[] = [];
    await using server = await start((error) => void errors.push(error));
    await server.call('refuse');
    await server.call('take', {});
    await server.call('nothing');
    expect((await server.call('conflict')).status).toBe(503);
    expect(errors).toEqual([]);
    await server.call('plain');
    expect(errors).toEqual([new Full('the room of eve is full')]);
  });

  it.each<[how: string, mapError: () => unknown]>([
    ['fails', () => { throw new RangeError('no map'); }],
    ['returns something else', () => 409],
    ['returns a promise', async () => undefined],
  ])('turns the error into an internal one if it %s', async (_, broken) => {
    await using server = await start(broken as MapError);
    await expectProblem(await server.call('plain'), 500, 'internal');
    const line = server.lines.find(({ message }) => message === 'A request failed');
    expect(JSON.stringify(line)).toMatch(/The option `mapError` failed.*(no map|It must return)/);
    expect(await server.push('plain')).toBe('error');
  }); // biome-ignore format: short

  it('does not prevent the retry of a mutator whose row another call has inserted first', async () => {
    await using server = await start(() => new MutatorError('Taken'));
    const waiting: (() => void)[] = [];
    let count = 0;
    meet = () =>
      ++count > 2
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            waiting.push(resolve);
            if (waiting.length === 2) for (const go of waiting.splice(0)) go();
          });
    const responses = await Promise.all([server.call('ensure', 'a'), server.call('ensure', 'a')]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(count).toBeGreaterThan(2);
  });

  it('is also an option of createRest', async () => {
    const rest = createRest({
      mutators: defineMutators({ full: defineMutator(() => Promise.reject(new Full('eve'))) }),
      transact: (work) => work({} as ClientBase),
      authenticate: () => ({ userID: 'ann' }),
      mapError,
      log: memoryLog().log,
    });
    const response = await rest.fetch(new Request('http://localhost/api/mutators/full', { method: 'POST' }));
    await expectProblem(response, 409, 'mutator-error', { details: { free: 0 } });
  });
});

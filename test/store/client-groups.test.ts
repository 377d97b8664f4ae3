import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.js';
import { openPool } from '../../src/db/pg.js';
import { claimMutation, readClient, readGroup, registerGroup } from '../../src/store/client-groups.js';
import type { TestDatabase } from '../database.js';
import { createSynced, wholeTable } from '../synced.js';

let database: TestDatabase;
let db: Database;
let one: pg.Client;
let other: pg.Client;

beforeAll(async () => {
  database = await createSynced('create table t (id int primary key)', wholeTable('t'));
  db = openPool(database.url, { max: 2 });
  [one, other] = [new pg.Client(database.url), new pg.Client(database.url)];
  await Promise.all([one.connect(), other.connect()]);
});
afterAll(async () => {
  await Promise.all([one.end(), other.end(), db.close()]);
  await database.drop();
});
beforeEach(() => database.pool.query('truncate tidemark.client, tidemark.client_group'));

const mutation = (mutationID: number, clientGroupID = 'g') => ({ clientGroupID, clientID: 'c', mutationID });
const begin = (client: pg.Client) => client.query('begin isolation level repeatable read');

async function claim(mutationID: number, clientGroupID?: string): Promise<boolean> {
  await begin(one);
  const claimed = await claimMutation(one, mutation(mutationID, clientGroupID));
  await one.query('commit');
  return claimed;
}

describe('a client group', () => {
  it('is unknown until it is registered', async () => {
    expect(await readGroup(db, 'g', ['c'])).toEqual({ owner: null, clients: new Map() });
    expect(await registerGroup(db, 'g', 'ann')).toBe('ann');
    expect(await readGroup(db, 'g', [])).toEqual({ owner: 'ann', clients: new Map() });
  });

  it('stays with the user who registered it first', async () => {
    await registerGroup(db, 'g', 'ann');
    expect(await registerGroup(db, 'g', 'ben')).toBe('ann');
  });
});

describe('a mutation', () => {
  beforeEach(() => registerGroup(db, 'g', 'ann'));

  it('is claimed once, in its turn', async () => {
    expect(await claim(2)).toBe(false);
    expect(await claim(1)).toBe(true);
    expect(await claim(1)).toBe(false);
    expect(await claim(3)).toBe(false);
    expect(await claim(2)).toBe(true);
    expect((await readGroup(db, 'g', ['c', 'unknown'])).clients).toEqual(
      new Map([['c', { clientGroupID: 'g', lastMutationID: 2 }]]),
    );
  });

  it('is not claimed for a client of another group', async () => {
    await claim(1);
    expect(await claim(2, 'another')).toBe(false);
    expect(await claim(1, 'another')).toBe(false);
    expect(await readClient(one, 'c')).toEqual({ clientGroupID: 'g', lastMutationID: 1 });
  });

  it('is not claimed when its transaction rolls back', async () => {
    await begin(one);
    expect(await claimMutation(one, mutation(1))).toBe(true);
    expect(await readClient(one, 'c')).toEqual({ clientGroupID: 'g', lastMutationID: 1 });
    await one.query('rollback');
    expect(await readClient(one, 'c')).toBeUndefined();
  });

  it.each([1, 2])(
    'that two transactions claim at once goes to one, and the other can be tried again (ID %i)',
    async (id) => {
      if (id === 2) await claim(1);
      await Promise.all([begin(one), begin(other)]);
      await Promise.all([one.query('select 1'), other.query('select 1')]);
      expect(await claimMutation(one, mutation(id))).toBe(true);
      const refused = expect(claimMutation(other, mutation(id))).rejects.toMatchObject({ code: '40001' });
      await one.query('commit');
      await refused;
      await other.query('rollback');
      expect((await readGroup(db, 'g', ['c'])).clients.get('c')?.lastMutationID).toBe(id);
    },
  );
});

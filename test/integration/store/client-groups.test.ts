import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database, Statement } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import {
  type ClaimRow,
  claimMutation,
  extendClaim,
  findDeferredConstraint,
  type MutationRef,
  readGroup,
  registerGroup,
} from '../../../packages/tidemark/src/store/client-groups.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, wholeTable } from '../../support/synced.js';

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

/** True if the statement found a row. */
async function found(client: pg.Client, { text, values = [] }: Statement): Promise<boolean> {
  return (await client.query(text, [...values])).rows.length === 1;
}

async function claimOn(client: pg.Client, ref: MutationRef, userID = 'ann'): Promise<boolean> {
  const { text, values = [] } = claimMutation(ref, userID);
  return (await client.query<ClaimRow>(text, [...values])).rows[0]!.claimed;
}

const lastMutationID = async () => (await readGroup(db, 'g', ['c'])).clients.get('c')?.lastMutationID;

async function claim(mutationID: number, clientGroupID?: string, userID?: string): Promise<boolean> {
  await begin(one);
  const claimed = await claimOn(one, mutation(mutationID, clientGroupID), userID);
  await one.query('commit');
  return claimed;
}

describe('a client group', () => {
  it('is unknown until it is registered', async () => {
    expect(await readGroup(db, 'g', ['c'])).toEqual({ owner: null, clients: new Map() });
    await registerGroup(db, 'g', 'ann');
    expect(await readGroup(db, 'g', [])).toEqual({ owner: 'ann', clients: new Map() });
  });

  it('belongs to the user who registered it first', async () => {
    await registerGroup(db, 'g', 'ann');
    await registerGroup(db, 'g', 'ben');
    expect((await readGroup(db, 'g', [])).owner).toBe('ann');
  });
});

describe('a mutation', () => {
  beforeEach(() => registerGroup(db, 'g', 'ann'));

  it('is claimed once, and in order', async () => {
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
    expect((await readGroup(db, 'g', ['c'])).clients.get('c')).toEqual({ clientGroupID: 'g', lastMutationID: 1 });
  });

  it('is claimed only for the user of its client group', async () => {
    expect(await claim(1, 'g', 'ben')).toBe(false);
    await claim(1);
    expect(await claim(2, 'g', 'ben')).toBe(false);
    expect(await lastMutationID()).toBe(1);
  });

  it('is not claimed when its transaction rolls back', async () => {
    await begin(one);
    expect(await claimOn(one, mutation(1))).toBe(true);
    const { rows } = await one.query('select client_group_id, last_mutation_id from tidemark.client');
    expect(rows).toEqual([{ client_group_id: 'g', last_mutation_id: '1' }]);
    await one.query('rollback');
    expect(await lastMutationID()).toBeUndefined();
  });

  it('that has been applied does not wait for later ones that are being applied', async () => {
    await claim(1);
    await begin(other);
    expect(await claimOn(other, mutation(2))).toBe(true);
    await one.query(`set statement_timeout = '5s'`);
    expect(await claim(1)).toBe(false);
    expect(await claim(2, 'another')).toBe(false);
    await other.query('commit');
    await one.query('reset statement_timeout');
    expect(await lastMutationID()).toBe(2);
  });

  it.each([1, 2])(
    'that two transactions claim concurrently goes to one, and the other can retry (ID %i)',
    async (id) => {
      if (id === 2) await claim(1);
      await Promise.all([begin(one), begin(other)]);
      await Promise.all([one.query('select 1'), other.query('select 1')]);
      expect(await claimOn(one, mutation(id))).toBe(true);
      const refused = expect(claimOn(other, mutation(id))).rejects.toMatchObject({ code: '40001' });
      await one.query('commit');
      await refused;
      await other.query('rollback');
      expect((await readGroup(db, 'g', ['c'])).clients.get('c')?.lastMutationID).toBe(id);
    },
  );
});

describe('further mutations', () => {
  beforeEach(() => registerGroup(db, 'g', 'ann'));
  const claimMore = (client: pg.Client) => found(client, extendClaim(mutation(1), 5));

  it('are claimed by the transaction that has claimed the first', async () => {
    await begin(one);
    await claimOn(one, mutation(1));
    expect(await claimMore(one)).toBe(true);
    await one.query('commit');
    expect(await lastMutationID()).toBe(5);
  });

  it('are claimed by no other transaction', async () => {
    await claim(1);
    expect(await claimMore(one)).toBe(false);
    await begin(one);
    expect(await claimMore(one)).toBe(false);
    await one.query('commit');
    expect(await lastMutationID()).toBe(1);
  });
});

it('findDeferredConstraint finds a constraint that is checked at the end of a transaction', async () => {
  await one.query('create table checked (id int primary key, other int references checked deferrable)');
  expect(await found(one, findDeferredConstraint)).toBe(false);
  await one.query(
    'create constraint trigger late after insert on checked deferrable initially deferred for each row execute function suppress_redundant_updates_trigger()',
  );
  expect(await found(one, findDeferredConstraint)).toBe(true);
  await one.query('drop table checked');
});

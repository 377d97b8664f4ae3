/** Findings that require special server settings: subscriptions, replication slots, standbys. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { examine } from '../../../packages/tidemark/src/doctor/examine.js';
import { judgeHolders, readHolders } from '../../../packages/tidemark/src/doctor/horizon.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createEmptyDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { type Replication, startReplication } from '../../support/replication.js';
import { subscribe, useLogicalReplication } from '../../support/subscription.js';
import { mine, server, usePatient } from './patient.js';

describe('on a server with logical replication', () => {
  useLogicalReplication();
  const ddl = 'create table todo (id int primary key, owner_id text)';
  const patient = usePatient(ddl);

  it('not-captured reports a table that a subscription writes to', async () => {
    const publisher = await createEmptyDatabase();
    await publisher.pool.query(ddl);
    const subscription = await subscribe(publisher, patient.database, 'todo');
    expect(await patient.findings()).toMatchObject([
      {
        code: 'not-captured',
        severity: 'error',
        subject: 'todo',
        what: expect.stringContaining('a logical replication subscription writes to it'),
        advice: expect.stringContaining('Take the table out of the subscription'),
      },
    ]);
    await subscription.drop();
    expect(await patient.findings()).toEqual([]);
    await publisher.drop();
  });

  it('horizon-held reports a forgotten replication slot, and its SQL drops it', async () => {
    await patient.run(`select pg_create_logical_replication_slot('forgotten', 'pgoutput')`);
    const db = openPool(patient.urlOf(server));
    const holders = await readHolders(db);
    const [judged] = judgeHolders(holders.map((holder) => ({ ...holder, transactions: 2_000_000 })));
    expect(judged).toMatchObject({
      code: 'horizon-held',
      subject: 'replication slot forgotten',
      what: expect.stringContaining('inactive'),
    });
    await patient.run(judged!.sql!);
    expect(await readHolders(db)).toEqual([]);
    await db.close();
  });
});

describe('with a standby', () => {
  let replication: Replication;
  beforeAll(async () => {
    replication = await startReplication({ delays: [0], waitsFor: 'nobody' });
    const client = new pg.Client(replication.primaryURL);
    await client.connect();
    await client.query('create table todo (id int primary key, owner_id text)');
    await client.end();
    await migrate({ database: replication.primaryURL, views: mine, log: silent });
    await replication.caughtUp();
  });
  afterAll(() => replication.stop());

  it('a note on the limits of an examination is the only finding that is specific to the standby', async () => {
    const db = openPool(replication.standbys[0]!.url);
    const { findings } = await examine(db, { views: mine, authenticate: () => null }, true);
    await db.close();
    expect(findings.map(({ code, severity }) => [code, severity])).toEqual([
      ['fsync-off', 'error'],
      ['standby', 'info'],
    ]);
  });

  it('horizon-held reports a standby that holds back the horizon of its primary', async () => {
    const reader = new pg.Client(replication.standbys[0]!.url);
    await reader.connect();
    await reader.query('begin isolation level repeatable read; select from todo');
    const db = openPool(replication.primaryURL);
    const standbyHolders = async () => (await readHolders(db)).filter(({ kind }) => kind === 'standby');
    await expect
      .poll(standbyHolders, { timeout: 60_000 })
      .toMatchObject([{ application: 'standby_0', state: 'streaming' }]);
    const aged = (await standbyHolders()).map((holder) => ({ ...holder, transactions: 1_000_000 }));
    expect(judgeHolders(aged)).toMatchObject([
      { code: 'horizon-held', sql: null, advice: expect.stringContaining('hot_standby_feedback') },
    ]);
    await reader.end();
    await db.close();
  });
});

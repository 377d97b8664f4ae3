import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { collectStatus } from '../../../packages/tidemark/src/doctor/collect-status.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { silent } from '../../support/log.js';
import { installationOf, wholeTable } from '../../support/synced.js';

const refusal = /has the encoding LATIN1|has the encoding SQL_ASCII/;

it.each(['LATIN1', 'SQL_ASCII'])(
  'migrations, servers and status refuse a database with the encoding %s',
  async (encoding) => {
    const address = new URL(process.env.TIDEMARK_TEST_CLUSTER!);
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    const cluster = new pg.Client({ connectionString: address.href });
    await cluster.connect();
    await cluster.query(`create database ${name} encoding '${encoding}' locale 'C' template template0`);
    address.pathname = name;
    const pool = new pg.Pool({ connectionString: address.href, max: 2 });
    const views = wholeTable('t');
    try {
      await pool.query('create table t (id int primary key)');
      await expect(migrate({ database: pool, views, log: silent })).rejects.toThrow(refusal);
      await expect(installationOf(pool, views)).rejects.toThrow(refusal);
      const { problems } = await collectStatus(openPool(pool), { views, authenticate: () => null });
      expect(problems.join()).toMatch(refusal);
    } finally {
      await pool.end();
      await cluster.query(`drop database ${name} with (force)`);
      await cluster.end();
    }
  },
);

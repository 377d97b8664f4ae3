/** A database set up as the documentation says, with an owner and a server's role, for a doctor to examine. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import type { Config } from '../../../packages/tidemark/src/config.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { type DoctorReport, examine } from '../../../packages/tidemark/src/doctor/examine.js';
import type { Finding } from '../../../packages/tidemark/src/doctor/finding.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { grants } from '../../support/grants.js';
import { silent } from '../../support/log.js';
import type { Context } from '../../support/synced.js';

/** Roles belong to the cluster, where other test files may be running, so their names are unique. */
const suffix = randomUUID().slice(0, 8);
export const owner = `doctor_owner_${suffix}`;
export const server = `doctor_server_${suffix}`;

export const mine: Views<Context> = {
  mine: defineView({
    query: ({ ctx }) => sql<{ id: number }>`select id from todo where owner_id = ${ctx.userID}`,
    key: 'id',
  }),
};

export interface Patient {
  readonly database: TestDatabase;
  /** Runs statements as a superuser. */
  run(text: string): Promise<pg.QueryResult>;
  urlOf(role: string): string;
  migrate(views?: Views<Context>): Promise<void>;
  examine(setting?: Partial<Config> & { readonly role?: string }): Promise<DoctorReport>;
  /** The findings, without `fsync-off`, which every test cluster has. */
  findings(setting?: Partial<Config> & { readonly role?: string }): Promise<Finding[]>;
}

/** @param ddl creates the tables, todo among them; they belong to the owner */
export function usePatient(ddl: string, views: Views<Context> = mine): Patient {
  let database: TestDatabase;
  const run = (text: string) => database.pool.query(text);
  const urlOf = (role: string) => Object.assign(new URL(database.url), { username: role, password: 'x' }).href;
  const asOwner = async (text: string) => {
    const client = new pg.Client(urlOf(owner));
    await client.connect();
    await client.query(text).finally(() => client.end());
  };
  const patient: Patient = {
    get database() {
      return database;
    },
    run,
    urlOf,
    migrate: (its = views) => migrate({ database: urlOf(owner), views: its, log: silent }),
    async examine({ role = server, ...config } = {}) {
      const db = openPool(urlOf(role));
      try {
        return await examine(db, { views, authenticate: () => null, ...config }, false);
      } finally {
        await db.close();
      }
    },
    async findings(setting) {
      const { findings } = await patient.examine(setting);
      return findings.filter(({ code }) => code !== 'fsync-off');
    },
  };
  beforeAll(async () => {
    database = await createEmptyDatabase();
    await run(`
      create role ${owner} login password 'x'; create role ${server} login password 'x';
      grant create on schema public to ${owner};
      do $$ begin execute format('grant create on database %I to ${owner}', current_database()); end $$`);
    await asOwner(ddl);
    await patient.migrate();
    for (const block of grants) await asOwner(block.replaceAll('tidemark_server', server));
    await asOwner(`grant select on all tables in schema public to ${server}`);
  });
  afterAll(async () => {
    await run(`drop owned by ${owner}, ${server} cascade`);
    await database.drop();
    const cluster = new pg.Client(process.env.TIDEMARK_TEST_CLUSTER);
    await cluster.connect();
    await cluster.query(`drop role ${owner}, ${server}`).finally(() => cluster.end());
  });
  return patient;
}

/** The findings with this code. */
export function only(findings: readonly Finding[], code: string): Finding[] {
  return findings.filter((finding) => finding.code === code);
}

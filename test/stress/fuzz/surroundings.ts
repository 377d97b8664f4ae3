/** What a case's database is like around its tables: settings of the database and its role, publications, audits. */
import type pg from 'pg';
import { ordinarySettings, settingsNames } from '../../support/ordinary-settings.js';
import type { Choices } from './choices.js';

export interface Surroundings {
  /** The name of settings that the database and the role have. */
  readonly settings?: string;
  /** There is a publication for all tables. */
  readonly isPublished?: true;
  /** The servers audit each client. */
  readonly isAudited?: true;
}

export function createSurroundings(choices: Choices): Surroundings {
  return {
    ...(choices.percent(40) && { settings: choices.pick(settingsNames) }),
    ...(choices.percent(30) && { isPublished: true as const }),
    ...(choices.percent(40) && { isAudited: true as const }),
  };
}

/** The search path is the case's own, and its transactions may stay open for as long as others work. */
const ofCase = /search_path|transaction_timeout|idle_in_transaction/;

/** Gives the client's database what it has around its tables. */
export async function surround(client: pg.Client, { settings, isPublished }: Surroundings): Promise<void> {
  for (const statement of settings ? await settingStatements(client, settings) : []) await client.query(statement);
  if (isPublished) await client.query('create publication everything for all tables');
}

async function settingStatements(client: pg.Client, settings: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string; database: string }>(
    'select lower(name) as name, current_database() as database from pg_settings',
  );
  const statements = ordinarySettings(settings, rows[0]!.database, new Set(rows.map(({ name }) => name)));
  return statements.filter((statement) => !ofCase.test(statement));
}

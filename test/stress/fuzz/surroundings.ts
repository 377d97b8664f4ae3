/** The environment of a case's tables: settings of the database and its role, publications, consistency checks. */
import type pg from 'pg';
import { ordinarySettings, settingsNames } from '../../support/ordinary-settings.js';
import type { Choices } from './choices.js';

export interface Environment {
  /** The name of the settings of the database and the role. */
  readonly settings?: string;
  /** There is a publication for all tables. */
  readonly isPublished?: true;
  /** The servers check each client's consistency. */
  readonly checksConsistency?: true;
  /** The parameters of views come from arguments, and clients want instances. */
  readonly hasInstances?: true;
}

export function createEnvironment(choices: Choices): Environment {
  return {
    ...(choices.percent(40) && { settings: choices.pick(settingsNames) }),
    ...(choices.percent(30) && { isPublished: true as const }),
    ...(choices.percent(40) && { checksConsistency: true as const }),
  };
}

/** The case sets the search path, and its transactions stay open while other connections work. */
const ofCase = /search_path|transaction_timeout|idle_in_transaction/;

/** Applies the environment to the client's database. */
export async function applyEnvironment(client: pg.Client, { settings, isPublished }: Environment): Promise<void> {
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

/** The rows that new clients receive from servers whose connections plan in different ways. */
import type { Client } from 'pg';
import { FuzzClient } from './client.js';
import type { CaseDatabase } from './database.js';
import { type Rows, users } from './expected.js';
import { type ServingOptions, serve } from './serving.js';
import type { FuzzView } from './view.js';
import { takesArgs } from './wants.js';

/** Planner settings that yield rows in different orders. */
export const planners: readonly (readonly string[])[] = [
  ['enable_hashagg=off', 'enable_hashjoin=off', 'enable_nestloop=off', 'enable_material=off'],
  [
    'enable_sort=off',
    'enable_mergejoin=off',
    'enable_indexscan=off',
    'enable_indexonlyscan=off',
    'enable_bitmapscan=off',
  ],
  ['enable_seqscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off', 'enable_hashagg=off'],
];

/**
 * For each user, the rows of the views that a new client receives.
 * @param wanted the users whose instances it wants. Default: its own
 */
export async function freshRows(
  serving: ServingOptions,
  views: readonly FuzzView[],
  settings: readonly string[] = [],
  wanted?: readonly number[],
): Promise<readonly Rows[]> {
  const { sync, pool } = await serve(serving, views, settings);
  const rows: Rows[] = [];
  for (const user of users) {
    const client = new FuzzClient(user, `fresh ${user}`);
    client.wanted = wanted ?? client.wanted;
    await client.pull(sync, serving.hasInstances ? views.filter(takesArgs) : []);
    rows.push(client.rows);
  }
  await sync.close();
  await pool.end();
  return rows;
}

/** A connection for each set of planner settings. */
export function plannerClients(database: CaseDatabase): Promise<readonly Client[]> {
  return Promise.all(
    planners.map(async (settings) => {
      const client = await database.connectReader();
      for (const setting of settings) await client.query(`set ${setting}`);
      return client;
    }),
  );
}

/** The rows of one view. */
export function ofView(rows: Rows, { name }: FuzzView): Rows {
  return new Map([...rows].filter(([key]) => key.startsWith(`${name}/`)));
}

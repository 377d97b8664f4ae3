/** Tenants with a database each, as in an application: a header names the tenant of a request. */

import type { ClientBase } from 'pg';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { createTenants, type Tenants } from '../../../packages/tidemark/src/index.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import type { TenantConfig, TenantsOptions } from '../../../packages/tidemark/src/tenants/options.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog, silent } from '../../support/log.js';

export const ddl = 'create table note (id text primary key, owner_id text not null, body text not null)';

export const views = {
  note: defineView({
    query: ({ ctx }) => sql<{ id: string; body: string }>`select id, body from note where owner_id = ${ctx.userID}`,
    key: 'id',
  }),
};

const create = defineMutator(async ({ tx, args, ctx }) => {
  const { id, body } = args as { id: string; body: string };
  await tx.query('insert into note (id, owner_id, body) values ($1, $2, $3)', [id, ctx.userID, body]);
});

const mutators = defineMutators({ note: { create } });

const authenticate = (request: Request): UserContext | null => {
  const userID = request.headers.get('Authorization')?.slice('Bearer '.length);
  return userID ? { userID } : null;
};

export const tenantOf = (request: Request): string | null => request.headers.get('X-Tenant');

/** The result of `open` for a tenant with this database. */
export function opened(database: string): TenantConfig<UserContext, ClientBase> {
  return { database, views, mutators, authenticate };
}

/** Creates a migrated database with the application's table. */
export async function createTenantDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await database.pool.query(ddl);
  await migrate({ database: database.pool, views, log: silent });
  return database;
}

export interface Tenanted extends Tenants {
  readonly lines: LogLine[];
}

/** Starts tenants, given the URLs of their databases. */
export async function startTenants(
  databases: Readonly<Record<string, string>>,
  options: Partial<TenantsOptions> = {},
): Promise<Tenanted> {
  const { log, lines } = memoryLog();
  const open = (tenant: string) => (Object.hasOwn(databases, tenant) ? opened(databases[tenant]!) : null);
  return { ...(await createTenants({ tenantOf, open, log, ...options })), lines };
}

interface RequestOptions {
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly method?: string | undefined;
  readonly body?: object | undefined;
}

/** A request to a tenant. */
export function requestTo(path: string, { tenant, user = 'ann', method = 'POST', body }: RequestOptions = {}): Request {
  const headers = {
    'Content-Type': 'application/json',
    Authorization: `Bearer ${user}`,
    ...(tenant !== undefined && { 'X-Tenant': tenant }),
  };
  return new Request(`http://localhost${path}`, { method, headers, body: body ? JSON.stringify(body) : null });
}

export const pullBody = { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie: null };

/** Starts a pull without reading the response. */
export function beginPull(
  tenants: Pick<Tenants, 'fetch'>,
  tenant: string,
  user?: string,
  body = {},
): Promise<Response> {
  return tenants.fetch(requestTo('/sync/pull', { tenant, user, body: { ...pullBody, ...body } }));
}

/** Pulls, and reads the response. */
export async function pull(...args: Parameters<typeof beginPull>): Promise<Response> {
  const answer = await beginPull(...args);
  return new Response(await answer.text(), answer);
}

export function push(
  tenants: Pick<Tenants, 'fetch'>,
  tenant: string,
  args: { readonly id: string; readonly body: string },
  {
    user,
    mutationID = 1,
    clientID = 'c',
    clientGroupID = 'g',
  }: Partial<Record<'user' | 'clientID' | 'clientGroupID', string>> & { mutationID?: number } = {},
): Promise<Response> {
  const mutations = [{ id: mutationID, clientID, name: 'note.create', args, timestamp: 1 }];
  const body = { pushVersion: 1, clientGroupID, profileID: 'p', schemaVersion: '', mutations };
  return tenants.fetch(requestTo('/sync/push', { tenant, user, body }));
}

/** The number of tenants by state, as reported by the process. */
export async function occupancy(tenants: Pick<Tenants, 'fetch'>): Promise<Record<'open' | 'busy' | 'failing', number>> {
  const answer = await tenants.fetch(requestTo('/readyz', { method: 'GET' }));
  return ((await answer.json()) as { tenants: Record<'open' | 'busy' | 'failing', number> }).tenants;
}

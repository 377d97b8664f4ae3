/** Digests of users' views and of the tables that they read. Pure. */
import { digest } from '../../protocol/cookie.js';
import { maxBytes, maxInstanceBytes, sealParameters, type ViewTexts } from '../../protocol/parameters.js';
import type { SyncedTable } from '../../store/patches/states.js';
import type { ReadColumns } from '../../view/analysis/read-columns.js';
import type { ResolvedView } from '../../view/client-views.js';
import { cookieTexts } from '../../view/served-view.js';
import type { SchemaState } from '../schema-state.js';

/** The digests that distinguish a user's views from others. */
export interface Digests {
  /** Identifies the user, the views with their parameters, and the tables' schema. */
  readonly viewsDigest: string;
  /**
   * For cookies: a digest of the user, a digest of all parameters, and the `viewDigest` of each view in order, joined
   * with dots.
   */
  readonly viewDigests: string;
  /** For cookies: the parameters; see `sealParameters`. */
  readonly parameters: string | undefined;
  /** For cookies: the schema hashes of the tables; see `schemaHashesOf`. */
  readonly schemaHashes: string;
  /** Identifies the views without their parameters, and the tables' schema. */
  readonly queryDigest: string;
}

/** The length of a part of `viewDigests`: 72 bits. */
const partLength = 12;

export function digestsOf(
  userID: string,
  { schemaHash, tables, secrets }: SchemaState,
  views: readonly ResolvedView[],
): Digests {
  const literals = views.flatMap((resolved) => resolved.literals);
  const parts = [part([userID]), part(literals), ...views.map((resolved) => viewDigest(resolved, tables))];
  return {
    viewsDigest: digest([schemaHash, userID, ...views.flatMap(({ view, literals }) => [view.digest, ...literals])]),
    viewDigests: parts.join('.'),
    parameters: sealParameters(
      textsOf(views),
      userID,
      secrets,
      views.some(({ instances }) => instances) ? maxInstanceBytes : maxBytes,
    ),
    schemaHashes: schemaHashesOf(tables),
    queryDigest: digest([schemaHash, ...views.map(({ view }) => view.digest)]),
  };
}

/** Returns a digest of a view without its parameters, and of the schema of all columns that it reads. */
export function viewDigest(resolved: ViewWithTables, syncedTables: SchemaState['tables']): string {
  return digestBy(resolved, syncedTables, resolved.view.reads);
}

/** Returns a digest of a view without its parameters, and of the schema of only the columns that decide its keys. */
export function keysDigest(resolved: ViewWithTables, syncedTables: SchemaState['tables']): string {
  return digestBy(resolved, syncedTables, resolved.view.decides);
}

type ViewWithTables = Pick<ResolvedView, 'view' | 'tables'>;

function digestBy({ view, tables }: ViewWithTables, syncedTables: SchemaState['tables'], columns: ReadColumns): string {
  const synced = new Map(syncedTables.map((table) => [table.oid, table]));
  const schemaHashes = tables.map(({ oid }) => viewTableHashes(synced.get(oid)!, columns));
  return part([view.digest, JSON.stringify(schemaHashes), ...view.parameterTypes]);
}

/** Returns the schema hashes of the columns that a view reads; the table's schema hash if the view reads whole rows. */
function viewTableHashes(
  { oid, schemaHash, ownHash, columnHashes, primaryKey }: SyncedTable,
  reads: ReadColumns,
): string[] {
  const columns = reads.get(oid);
  if (!columns || columns.some((column) => columnHashes[column] === undefined)) return [schemaHash];
  const read = new Set([...columns, ...primaryKey.map(({ attnum }) => attnum)]);
  return [ownHash, ...[...read].sort((a, b) => a - b).map((column) => `${column} ${columnHashes[column]}`)];
}

/** Returns each table's ID in the change log with its schema hash. */
export function schemaHashesOf(tables: SchemaState['tables']): string {
  return tables.map((table) => `${table.id}:${cookieSchemaHash(table)}`).join('.');
}

/** Returns a table's schema hash as cookies contain it. */
export function cookieSchemaHash({ schemaHash }: Pick<SyncedTable, 'schemaHash'>): string {
  return schemaHash.slice(0, partLength);
}

/** Returns the parameters of views as a cookie holds them. */
export function textsOf(views: readonly ResolvedView[]): ViewTexts {
  return views.map(cookieTexts);
}

function part(texts: readonly string[]): string {
  return digest(texts).slice(0, partLength);
}

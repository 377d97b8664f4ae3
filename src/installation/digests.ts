/** Digests of what a user sees. Pure. */
import { digest } from '../protocol/cookie.js';
import { sealParameters, type ViewTexts } from '../protocol/parameters.js';
import type { SyncedTable } from '../store/patches/states.js';
import type { ReadColumns } from '../view/analysis/read-columns.js';
import type { BoundView } from '../view/client-views.js';
import type { Installation } from './installation.js';

/** What the views of a user are told from others by. */
export interface Digests {
  /** Identifies the user, the views with their parameters, and the shape of the tables. */
  readonly viewsDigest: string;
  /**
   * The same in parts, for cookies: a digest of the user, one of all parameters, and then a `viewDigest` of each view, in
   * their order; joined with dots.
   */
  readonly viewDigests: string;
  /** The parameters, for cookies; see `sealParameters`. */
  readonly parameters: string | undefined;
  /** The shapes of the tables, for cookies; see `shapesOf`. */
  readonly shapes: string;
  /** Identifies the views without their parameters, and the shape of the tables. */
  readonly formDigest: string;
}

/** The length of a part of `viewDigests`: 72 bits. */
const partLength = 12;

export function digestsOf(
  userID: string,
  { shape, tables, secrets }: Installation,
  views: readonly BoundView[],
): Digests {
  const literals = views.flatMap((bound) => bound.literals);
  const parts = [part([userID]), part(literals), ...views.map((bound) => viewDigest(bound, tables))];
  return {
    viewsDigest: digest([shape, userID, ...views.flatMap(({ view, literals }) => [view.digest, ...literals])]),
    viewDigests: parts.join('.'),
    parameters: sealParameters(textsOf(views), userID, secrets),
    shapes: shapesOf(tables),
    formDigest: digest([shape, ...views.map(({ view }) => view.digest)]),
  };
}

/** Identifies a view without its parameters, and the shape of what it reads of its tables. */
export function viewDigest(bound: ShapedView, shaped: Installation['tables']): string {
  return digestBy(bound, shaped, bound.view.reads);
}

/** The same, but of what it reads only the shape of what decides its keys. */
export function keysDigest(bound: ShapedView, shaped: Installation['tables']): string {
  return digestBy(bound, shaped, bound.view.decides);
}

type ShapedView = Pick<BoundView, 'view' | 'tables'>;

function digestBy({ view, tables }: ShapedView, shaped: Installation['tables'], columns: ReadColumns): string {
  const synced = new Map(shaped.map((table) => [table.oid, table]));
  const shapes = tables.map(({ oid }) => readShapes(synced.get(oid)!, columns));
  return part([view.digest, JSON.stringify(shapes), ...view.parameterTypes]);
}

/** The shapes of what a view reads of a table: of all of it, if it reads rows as a whole. */
function readShapes({ oid, shape, ownShape, columnShapes, primaryKey }: SyncedTable, reads: ReadColumns): string[] {
  const columns = reads.get(oid);
  if (!columns || columns.some((column) => columnShapes[column] === undefined)) return [shape];
  const read = new Set([...columns, ...primaryKey.map(({ attnum }) => attnum)]);
  return [ownShape, ...[...read].sort((a, b) => a - b).map((column) => `${column} ${columnShapes[column]}`)];
}

/** The shape of each table, after its ID in the change log. */
export function shapesOf(tables: Installation['tables']): string {
  return tables.map((table) => `${table.id}:${shapeInCookies(table)}`).join('.');
}

/** A table's shape as cookies have it. */
export function shapeInCookies({ shape }: Pick<SyncedTable, 'shape'>): string {
  return shape.slice(0, partLength);
}

/** The parameters of views. */
export function textsOf(views: readonly BoundView[]): ViewTexts {
  return views.map(({ texts }) => texts);
}

function part(texts: readonly string[]): string {
  return digest(texts).slice(0, partLength);
}

import { BoundedMap } from '../bounded-map.js';
import type { Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { readQuery } from '../sql.js';
import type { CompiledView } from './compile/compile.js';
import type { View, ViewInput, Views } from './define.js';
import { inView } from './in-view.js';
import { KeySpace } from './keys/key-space.js';
import { commonPrefix, ownPrefix } from './keys/prefixes.js';
import { keyParameters, rowByKey } from './keys/row-by-key.js';
import { inputFor, isShown, SampleInput } from './sample.js';
import { type PreparedView, parametersOf, prepareView, type ServedView, type ViewParameters } from './served-view.js';

/** A view with one user's parameters. A query has the same `view` object as long as the schema hash stays the same. */
export interface ResolvedView extends ViewParameters {
  readonly view: CompiledView;
  readonly tables: readonly Table[];
}

/** A part of a client view: one view, or one of its rows. */
export interface ViewPart {
  /** The view's name. */
  readonly view: string;
  /** The row's key, without the view's prefix. Default: all rows. */
  readonly key?: string | undefined;
  /** The view's arguments. Default: none. */
  readonly args?: object | undefined;
}

/** The query of one view for one user. */
export interface ViewQuery {
  readonly name: string;
  readonly view: View<never>;
  readonly text: string;
  readonly values: readonly unknown[];
  /** The key of the row, if the query reads a single row. */
  readonly key?: string | undefined;
  /** The prefix of this user's keys; undefined if all users have the same one. */
  readonly prefix: string | undefined;
}

interface PreparedQuery extends PreparedView {
  /** The view restricted to one row, whose key is an additional parameter. */
  readonly row: CompiledView;
}

/** The application's views together with Tidemark's own. */
interface JoinedViews<Context> {
  readonly views: Views<Context>;
  readonly keys: KeySpace;
}

/** The number of queries kept in memory. Few query texts depend on the user, since users differ in parameters. */
const maxQueries = 1000;

/** An application's views. Each query text is analyzed once. */
export class ClientViews<Context> {
  readonly #db: Database;
  readonly #views: Views<Context>;
  readonly #keys: KeySpace;
  /** The application's views joined with Tidemark's own, by the latter. */
  readonly #joined = new WeakMap<Views<Context>, JoinedViews<Context>>();
  readonly #prepared = new BoundedMap<string, Promise<PreparedQuery>>(maxQueries);

  constructor(db: Database, views: Views<Context>) {
    this.#keys = new KeySpace(views);
    this.#db = db;
    this.#views = views;
  }

  /**
   * Builds the queries of all views for one user.
   * @param ownViews Tidemark's own views, in addition to the application's
   * @param part if given, only this part is built
   * @throws SetupError that names the view whose query cannot be built, or the views that could share keys.
   */
  queries(
    input: ViewInput<Context>,
    { ownViews, part }: { readonly ownViews?: Views<Context> | undefined; readonly part?: ViewPart | undefined } = {},
  ): ViewQuery[] {
    const { views, keys } = ownViews ? this.#with(ownViews) : { views: this.#views, keys: this.#keys };
    const names = part ? [part.view] : Object.keys(views).filter((name) => isShown(views[name]!, input));
    const queries = names.map((name) => {
      const view = views[name]!;
      return inView(name, () => ({ name, view, key: part?.key, ...buildQuery(view, inputFor(view, input)) }));
    });
    keys.check(queries);
    return queries;
  }

  #with(ownViews: Views<Context>): JoinedViews<Context> {
    const known = this.#joined.get(ownViews);
    if (known) return known;
    const joined = { views: { ...this.#views, ...ownViews }, keys: new KeySpace(this.#views, ownViews) };
    this.#joined.set(ownViews, joined);
    return joined;
  }

  /**
   * Resolves all views for one user.
   * @param schemaHash the hash of the tables' schema. Each query is analyzed once for each hash.
   * @throws SetupError that names the view that cannot be served.
   */
  async resolve(input: ViewInput<Context>, schemaHash: string): Promise<ResolvedView[]> {
    return this.resolveQueries(this.queries(input), schemaHash);
  }

  /** Resolves queries that `queries` has returned. */
  resolveQueries(queries: readonly ViewQuery[], schemaHash: string): Promise<ResolvedView[]> {
    return Promise.all(
      queries.map(async (query) => {
        const { values, key, prefix } = query;
        const prepared = await this.#prepare(schemaHash, query);
        const { view, row, analysis } = prepared;
        const { literals, texts } = parametersOf(prepared, values, prefix);
        const { tables } = analysis;
        if (key === undefined) return { view, literals, texts, tables };
        const found = keyParameters(view, key);
        return { view: row, literals: [...literals, ...found.literals], texts: [...texts, found.text], tables };
      }),
    );
  }

  #prepare(schemaHash: string, query: ViewQuery): Promise<PreparedQuery> {
    const { name, text } = query;
    const id = `${schemaHash}\n${name}\n${text}`;
    const known = this.#prepared.get(id);
    if (known) return known;
    const prepared = this.#compile(query);
    this.#prepared.set(id, prepared);
    prepared.catch(() => this.#prepared.delete(id));
    return prepared;
  }

  async #compile(query: ViewQuery): Promise<PreparedQuery> {
    const prepared = await prepareView(this.#db, servedView(query));
    return { ...prepared, row: rowByKey(prepared) };
  }

  /**
   * Prepares a view that the application no longer has, if it could still be served.
   * @throws SetupError if it could not.
   */
  prepareServed(view: ServedView): Promise<PreparedView> {
    return prepareView(this.#db, view);
  }
}

/** Returns the definition of a query's view with the query's text. */
export function servedView({ name, view, text }: ViewQuery): ServedView {
  const { key, template, value, columns, nulls, timestamps } = view;
  return { name, prefix: commonPrefix(name, view) ?? null, key, template, text, value, columns, nulls, timestamps };
}

/** @throws SetupError if it fails for a sample, because the view needs context fields that the sample lacks. */
function buildQuery<Context>(
  view: View<Context>,
  input: ViewInput<Context>,
): Pick<ViewQuery, 'text' | 'values' | 'prefix'> {
  try {
    const { text, values: given } = readQuery(view.query(input));
    // A sample context lacks the application's own fields.
    const values = input instanceof SampleInput ? given.map((value) => value ?? null) : given;
    return { text, values, prefix: ownPrefix(view, input) };
  } catch (error) {
    if (!(input instanceof SampleInput) || error instanceof SetupError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupError(
      `its query or prefix cannot be built for the sample context (${reason}). Set the option \`sampleContext\` to a ` +
        'context with all fields that `authenticate` returns',
      { cause: error },
    );
  }
}

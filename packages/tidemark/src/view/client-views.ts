import { BoundedMap } from '../bounded-map.js';
import type { Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import type { Want } from '../protocol/wants.js';
import { buildQuery } from './build-query.js';
import type { CompiledView } from './compile/compile.js';
import type { View, ViewInput, Views } from './define.js';
import { inView } from './in-view.js';
import { InstanceQueries } from './instances/instance-queries.js';
import { checkRowValues } from './instances/row-values.js';
import { KeySpace } from './keys/key-space.js';
import { commonPrefix } from './keys/prefixes.js';
import { keyParameters, rowByKey } from './keys/row-by-key.js';
import { inputFor, isShown } from './sample.js';
import {
  type PreparedView,
  parametersOf,
  parametersOfInstances,
  prepareView,
  type ServedView,
  type ViewParameters,
} from './served-view.js';

/** A view with one user's parameters. A query has the same `view` object as long as the schema hash stays the same. */
export interface ResolvedView extends ViewParameters {
  readonly view: CompiledView;
  readonly tables: readonly Table[];
  /** The stage of a first sync in which clients receive the view. */
  readonly priority: number;
}

/** A part of a client view: one view, or one of its rows. */
export interface ViewPart {
  /** The view's name. */
  readonly view: string;
  /** The row's key, without the view's prefix. Default: all rows. */
  readonly key?: string | undefined;
  /** The arguments, as the view's validator has returned them; undefined if the view has none. */
  readonly args?: unknown;
}

/** The options of `ClientViews.queries`. */
export interface QueriesOptions<Context> {
  /** Tidemark's own views, in addition to the application's. */
  readonly ownViews?: Views<Context> | undefined;
  /** If given, only this part is built. */
  readonly part?: ViewPart | undefined;
  /** The wanted instances of views with arguments: the same object for the same wants. */
  readonly wants?: readonly Want[] | undefined;
  /** If given, other views are left out. */
  readonly names?: ReadonlySet<string> | undefined;
}

/** The query of one view for one user. */
export interface ViewQuery {
  readonly name: string;
  readonly view: View<never>;
  readonly text: string;
  readonly values: readonly unknown[];
  /** The values of each instance's parameters, in place of `values`, if the view is read as instances. */
  readonly instances?: readonly (readonly unknown[])[] | undefined;
  /** See `BuiltInstances`. */
  readonly variations?: readonly (readonly unknown[])[] | undefined;
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
  readonly #instanceQueries = new InstanceQueries<Context>();

  constructor(db: Database, views: Views<Context>) {
    this.#keys = new KeySpace(views);
    this.#db = db;
    this.#views = views;
  }

  /**
   * Builds the queries of all views for one user. A view with arguments is left out if no instance of it is wanted.
   * @throws SetupError that names the view whose query cannot be built, or the views that could share keys.
   */
  queries(input: ViewInput<Context>, options: QueriesOptions<Context> = {}): ViewQuery[] {
    const { ownViews, part, wants = [], names } = options;
    const { views, keys } = ownViews ? this.#with(ownViews) : { views: this.#views, keys: this.#keys };
    const isBuilt = (name: string) => isShown(views[name]!, input) && (names?.has(name) ?? true);
    const built = part ? [part.view] : Object.keys(views).filter(isBuilt);
    const queries = built.flatMap((name): ViewQuery[] => {
      const view = views[name]!;
      return inView(name, () => {
        const viewInput = inputFor(view, input);
        if (part || !view.args) return [{ name, view, key: part?.key, ...buildQuery(view, viewInput, part?.args) }];
        const instances = this.#instanceQueries.of(name, view, viewInput, wants);
        return instances ? [{ name, view, values: [], ...instances }] : [];
      });
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
        const { values, instances, key, prefix } = query;
        const prepared = await this.#prepare(schemaHash, query);
        const { view, row, analysis } = prepared;
        const { tables } = analysis;
        const { priority = 0 } = query.view;
        if (instances) {
          const parameters = parametersOfInstances(prepared, instances, prefix);
          if (query.variations) checkVariations(query, prepared);
          return { view, ...parameters, tables, priority };
        }
        const { literals, texts } = parametersOf(prepared, values, prefix);
        if (key === undefined) return { view, literals, texts, tables, priority };
        const found = keyParameters(view, key);
        const parameters = { literals: [...literals, ...found.literals], texts: [...texts, found.text] };
        return { view: row, ...parameters, tables, priority };
      }),
    );
  }

  #prepare(schemaHash: string, query: ViewQuery): Promise<PreparedQuery> {
    const { name, text, instances } = query;
    const id = `${schemaHash}\n${name}\n${instances ? 'instances' : 'one'}\n${text}`;
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

/** @throws SetupError that names the view if its arguments decide about the values of its rows */
function checkVariations({ name, view, instances, variations }: ViewQuery, { one }: PreparedQuery): void {
  const [values = []] = instances!;
  inView(name, () => checkRowValues(one!.parameterUses, view, values, variations!));
}

/** Returns the definition of a query's view with the query's text. */
export function servedView({ name, view, text, instances }: ViewQuery): ServedView {
  const { key, template, value, columns, nulls, timestamps } = view;
  const options = { template, text, value, columns, nulls, timestamps };
  return {
    name,
    prefix: commonPrefix(name, view) ?? null,
    key,
    ...options,
    ...(instances && { hasInstances: true }),
  };
}

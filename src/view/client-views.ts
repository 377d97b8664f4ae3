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

/** A view with one user's parameters. The same query gives the same `view` as long as the tables' shape is the same. */
export interface BoundView extends ViewParameters {
  readonly view: CompiledView;
  readonly tables: readonly Table[];
}

/** A part of a client view: one view, or one of its rows. */
export interface ViewPart {
  /** The view's name. */
  readonly view: string;
  /** The row's key, without the view's prefix. Default: all rows. */
  readonly key?: string | undefined;
}

/** The query of one view for one user. */
export interface ViewQuery {
  readonly name: string;
  readonly view: View<never>;
  readonly text: string;
  readonly values: readonly unknown[];
  /** The key of the only row that is asked for, if it is one. */
  readonly key?: string | undefined;
  /** What this user's keys start with; undefined if it is the same for everyone. */
  readonly prefix: string | undefined;
}

interface Prepared extends PreparedView {
  /** A row of the view, with its key as one more parameter. */
  readonly row: CompiledView;
}

/** The application's views with views of Tidemark's own. */
interface Joined<Context> {
  readonly views: Views<Context>;
  readonly keys: KeySpace;
}

/**
 * How many queries are kept. Few query texts depend on the user other than by parameters; the number is bounded anyway.
 */
const keptQueries = 1000;

/** An application's views. Each query text is analyzed once. */
export class ClientViews<Context> {
  readonly #db: Database;
  readonly #views: Views<Context>;
  readonly #keys: KeySpace;
  /** The application's views, with views of Tidemark's own. */
  readonly #joined = new WeakMap<Views<Context>, Joined<Context>>();
  readonly #prepared = new BoundedMap<string, Promise<Prepared>>(keptQueries);

  constructor(db: Database, views: Views<Context>) {
    this.#keys = new KeySpace(views);
    this.#db = db;
    this.#views = views;
  }

  /**
   * The queries of all views for one user.
   * @param own views of Tidemark's own, besides the application's
   * @param part if given, of this part alone
   * @throws SetupError that names the view whose query cannot be built, or the views whose keys could meet.
   */
  queries(
    input: ViewInput<Context>,
    { own, part }: { readonly own?: Views<Context> | undefined; readonly part?: ViewPart | undefined } = {},
  ): ViewQuery[] {
    const { views, keys } = own ? this.#with(own) : { views: this.#views, keys: this.#keys };
    const names = part ? [part.view] : Object.keys(views).filter((name) => isShown(views[name]!, input));
    const queries = names.map((name) => {
      const view = views[name]!;
      return inView(name, () => ({ name, view, key: part?.key, ...buildQuery(view, inputFor(view, input)) }));
    });
    keys.check(queries);
    return queries;
  }

  #with(own: Views<Context>): Joined<Context> {
    const known = this.#joined.get(own);
    if (known) return known;
    const joined = { views: { ...this.#views, ...own }, keys: new KeySpace(this.#views, own) };
    this.#joined.set(own, joined);
    return joined;
  }

  /**
   * All views as one user sees them.
   * @param shape the tables' shape: what is known about a query is valid for one shape only
   * @throws SetupError that names the view that cannot be served.
   */
  async bind(input: ViewInput<Context>, shape: string): Promise<BoundView[]> {
    return this.bindQueries(this.queries(input), shape);
  }

  /** The same for what `queries` returned. */
  bindQueries(queries: readonly ViewQuery[], shape: string): Promise<BoundView[]> {
    return Promise.all(
      queries.map(async (query) => {
        const { values, key, prefix } = query;
        const prepared = await this.#prepare(shape, query);
        const { view, row, analysis } = prepared;
        const { literals, texts } = parametersOf(prepared, values, prefix);
        const { tables } = analysis;
        if (key === undefined) return { view, literals, texts, tables };
        const found = keyParameters(view, key);
        return { view: row, literals: [...literals, ...found.literals], texts: [...texts, found.text], tables };
      }),
    );
  }

  #prepare(shape: string, query: ViewQuery): Promise<Prepared> {
    const { name, text } = query;
    const id = `${shape}\n${name}\n${text}`;
    const known = this.#prepared.get(id);
    if (known) return known;
    const prepared = this.#compile(query);
    this.#prepared.set(id, prepared);
    prepared.catch(() => this.#prepared.delete(id));
    return prepared;
  }

  async #compile(query: ViewQuery): Promise<Prepared> {
    const prepared = await prepareView(this.#db, servedView(query));
    return { ...prepared, row: rowByKey(prepared.view) };
  }

  /**
   * A view that is served no longer, as far as it could be served now.
   * @throws SetupError if it could not.
   */
  prepareServed(view: ServedView): Promise<PreparedView> {
    return prepareView(this.#db, view);
  }
}

/** What a query is of. */
export function servedView({ name, view, text }: ViewQuery): ServedView {
  const { key, template, value, columns, nulls, timestamps } = view;
  return { name, prefix: commonPrefix(name, view) ?? null, key, template, text, value, columns, nulls, timestamps };
}

/** @throws SetupError if it fails for a sample: the view wants something of the caller's context that the sample lacks. */
function buildQuery<Context>(
  view: View<Context>,
  input: ViewInput<Context>,
): Pick<ViewQuery, 'text' | 'values' | 'prefix'> {
  try {
    const { text, values: given } = readQuery(view.query(input));
    // A sample context lacks fields of the application's own.
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

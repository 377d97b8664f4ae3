import { BoundedMap } from '../bounded-map.js';
import type { Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { namedLiteral, parameterText, typedLiteral } from '../db/literal.js';
import { SetupError } from '../errors.js';
import type { QuerySource, SqlQuery } from '../sql.js';
import { isMovingMoment } from './analysis/moments.js';
import { type Analysis, analyze } from './analyze.js';
import { type CompiledView, compileView } from './compile.js';
import type { View, ViewInput, Views } from './define.js';

/** A view's parameters. */
export interface ViewParameters {
  /** As SQL literals. */
  readonly literals: readonly string[];
  /** As text, for statements that have parameters. */
  readonly texts: readonly (string | null)[];
}

/** A view with one user's parameters. The same query gives the same `view` as long as the tables' shape is the same. */
export interface BoundView extends ViewParameters {
  readonly view: CompiledView;
  readonly tables: readonly Table[];
}

/** The query of one view for one user. */
export interface ViewQuery {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

interface Prepared {
  readonly analysis: Analysis;
  readonly view: CompiledView;
}

/**
 * How many queries are kept. Few query texts depend on the user other than by parameters; the number is bounded anyway.
 */
const keptQueries = 1000;

/** An application's views. Each query text is analyzed once. */
export class ClientViews<Context> {
  readonly #db: Database;
  readonly #views: Views<Context>;
  readonly #prepared = new BoundedMap<string, Promise<Prepared>>(keptQueries);

  constructor(db: Database, views: Views<Context>) {
    checkPrefixes(views);
    this.#db = db;
    this.#views = views;
  }

  /**
   * The queries of all views for one user.
   * @throws SetupError that names the view whose query cannot be built.
   */
  queries(input: ViewInput<Context>): ViewQuery[] {
    return Object.entries(this.#views).map(([name, view]) => {
      const { text, values } = inView(name, () => readQuery(view.query(input)));
      return { name, text, values };
    });
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
      queries.map(async ({ name, text, values }) => {
        const { view, analysis } = await this.#prepare(shape, name, text);
        const literals = inView(name, () => toLiterals(values, analysis));
        const texts = analysis.parameterTypes.map((_, i) => parameterText(values[i]));
        return { view, literals, texts, tables: analysis.tables };
      }),
    );
  }

  #prepare(shape: string, name: string, text: string): Promise<Prepared> {
    const id = `${shape}\n${name}\n${text}`;
    const known = this.#prepared.get(id);
    if (known) return known;
    const prepared = this.#compile(name, this.#views[name]!, text);
    this.#prepared.set(id, prepared);
    prepared.catch(() => this.#prepared.delete(id));
    return prepared;
  }

  async #compile(name: string, view: View<Context>, text: string): Promise<Prepared> {
    return inViewAsync(name, async () => {
      const analysis = await analyze(this.#db, text, view.key);
      const naming = { name, prefix: prefixOf(name, view), key: view.key };
      return { analysis, view: compileView(naming, analysis, view) };
    });
  }
}

/** The text and the values of a query, from whichever builder it comes. */
export function readQuery(source: QuerySource): SqlQuery {
  if ('text' in source) return source;
  if ('compile' in source) return readQuery(source.compile());
  if ('toSQL' in source) return readQuery(source.toSQL());
  return { text: source.sql, values: 'parameters' in source ? source.parameters : source.params };
}

function toLiterals(
  values: readonly unknown[],
  { parameterTypes, momentParameters, keepsParametersApart }: Analysis,
): string[] {
  return parameterTypes.map((type, i) => {
    const value = values[i];
    if (momentParameters.has(i + 1) && isMovingMoment(String(value))) {
      throw new SetupError(
        `its parameter $${i + 1} is '${value}', which means a different moment each time. Pass the time itself`,
      );
    }
    return keepsParametersApart ? namedLiteral(`tidemark_${i + 1}`, value, type) : typedLiteral(value, type);
  });
}

function prefixOf(name: string, view: View<never>): string {
  return view.prefix ?? `${name}/`;
}

/** A key of one view must never be a key of another. */
function checkPrefixes(views: Readonly<Record<string, View<never>>>): void {
  const prefixes = Object.entries(views).map(([name, view]) => ({ name, prefix: prefixOf(name, view) }));
  for (const one of prefixes) {
    const other = prefixes.find((candidate) => candidate !== one && candidate.prefix.startsWith(one.prefix));
    if (other) {
      throw new SetupError(
        `The views "${one.name}" and "${other.name}" could share keys: "${other.prefix}" starts with "${one.prefix}". Give one of them another prefix.`,
      );
    }
  }
}

function inView<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw viewError(name, error);
  }
}

async function inViewAsync<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw viewError(name, error);
  }
}

/**
 * Failures of the database itself are passed on; an error about the query, from Postgres or Tidemark, names the view.
 */
function viewError(name: string, error: unknown): unknown {
  if (error instanceof SetupError) return new SetupError(`The view "${name}" cannot be served: ${error.message}.`);
  if (/^(42|22|0A)/.test(String((error as { code?: unknown }).code))) {
    return new SetupError(`The view "${name}" cannot be served: Postgres says: ${(error as Error).message}.`);
  }
  return error;
}

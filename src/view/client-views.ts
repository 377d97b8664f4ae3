import { BoundedMap } from '../bounded-map.js';
import type { Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { namedLiteral, parameterText, typedLiteral } from '../db/literal.js';
import { SetupError } from '../errors.js';
import type { QuerySource, SqlQuery } from '../sql.js';
import { isMovingMoment } from './analysis/moments.js';
import { type Analysis, analyze } from './analyze.js';
import { type CompiledView, compileView, prefixType } from './compile.js';
import type { View, ViewInput, Views } from './define.js';
import { canMeet, describeKeys, type KeyPattern, patternOf } from './keys.js';

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
  /** What this user's keys start with; undefined if it is the same for everyone. */
  readonly prefix: string | undefined;
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
  readonly #patterns: ReadonlyMap<string, KeyPattern>;
  readonly #prepared = new BoundedMap<string, Promise<Prepared>>(keptQueries);

  constructor(db: Database, views: Views<Context>) {
    this.#patterns = new Map(
      Object.entries(views).map(([name, view]) => [name, inView(name, () => patternOf(view))] as const),
    );
    this.#db = db;
    this.#views = views;
    this.#checkKeys([]);
  }

  /**
   * The queries of all views for one user.
   * @throws SetupError that names the view whose query cannot be built.
   */
  queries(input: ViewInput<Context>): ViewQuery[] {
    return Object.entries(this.#views).map(([name, view]) => {
      return inView(name, () => {
        const { text, values } = readQuery(view.query(input));
        return { name, text, values, prefix: ownPrefix(view, input) };
      });
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
  async bindQueries(queries: readonly ViewQuery[], shape: string): Promise<BoundView[]> {
    if (queries.some(({ prefix }) => prefix !== undefined)) this.#checkKeys(queries);
    return Promise.all(
      queries.map(async ({ name, text, values, prefix }) => {
        const { view, analysis } = await this.#prepare(shape, name, text);
        const literals = inView(name, () => toLiterals(values, analysis));
        const texts = analysis.parameterTypes.map((_, i) => parameterText(values[i]));
        if (prefix !== undefined) {
          literals.push(typedLiteral(prefix, prefixType));
          texts.push(prefix);
        }
        return { view, literals, texts, tables: analysis.tables };
      }),
    );
  }

  /**
   * A key of one view must never be a key of another.
   * @param queries those whose prefix depends on the user; of others, views with such a prefix are left out
   * @throws SetupError that names two views whose keys could meet.
   */
  #checkKeys(queries: readonly ViewQuery[]): void {
    const own = new Map(queries.map(({ name, prefix }) => [name, prefix]));
    const known = Object.entries(this.#views).flatMap(([name, view]) => {
      const prefix = inView(name, () => commonPrefix(name, view)) ?? own.get(name);
      return prefix === undefined ? [] : [{ name, prefix, pattern: this.#patterns.get(name)! }];
    });
    for (const [i, one] of known.entries()) {
      const other = known.slice(i + 1).find((candidate) => canMeet(one, candidate));
      if (other) {
        const keys = [one, other].map((view) => `"${describeKeys(view)}"`).join(' and ');
        throw new SetupError(
          `The views "${one.name}" and "${other.name}" could share keys: ${keys}. Give one of them another prefix, or fixed text where the other has other text.`,
        );
      }
    }
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
      const { key, template } = view;
      const naming = { name, prefix: commonPrefix(name, view), key, template };
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

/** What everyone's keys start with; undefined if it depends on the user. */
function commonPrefix(name: string, { prefix, template }: View<never>): string | undefined {
  if (typeof prefix === 'function') return undefined;
  return readPrefix(prefix ?? (template === undefined ? `${name}/` : ''));
}

function ownPrefix<Context>({ prefix }: View<Context>, input: ViewInput<Context>): string | undefined {
  return typeof prefix === 'function' ? readPrefix(prefix(input)) : undefined;
}

/** A prefix as Postgres keeps it. */
function readPrefix(prefix: unknown): string {
  if (typeof prefix !== 'string') throw new SetupError('its prefix is no text. Return a string');
  if (prefix.includes('\0')) throw new SetupError('its prefix contains U+0000, which Postgres text cannot hold');
  return prefix.toWellFormed();
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

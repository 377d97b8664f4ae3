/** Queries: the `sql` tag, the queries of other libraries, and quoting for identifiers and text. */
import { escapeLiteral } from 'pg';
import { SetupError } from './errors.js';

declare const row: unique symbol;

/** SQL text with parameters `$1…$n`, and their values. `Row` is the type of one row of the result. */
export interface SqlQuery<Row = unknown> {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly [row]?: Row;
}

/**
 * A query from the `sql` tag, Kysely (the builder or its `.compile()`), Drizzle (the builder or its `.toSQL()`) or
 * Prisma (its `Prisma.sql` tag or its TypedSQL). Only Kysely's builder carries the type of the rows: Drizzle's types
 * name its own fields, not the columns of the SQL. For all others, state the type with `sql<Row>(query)`.
 */
export type QuerySource<Row = unknown> =
  | SqlQuery<Row>
  | { readonly sql: string; readonly parameters: readonly unknown[] }
  | { readonly sql: string; readonly params: readonly unknown[] }
  | { readonly sql: string; readonly values: readonly unknown[] }
  | {
      compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
      executeTakeFirst(): Promise<Row | undefined>;
    }
  | { toSQL(): { readonly sql: string; readonly params: readonly unknown[] } };

class TaggedQuery<Row> implements SqlQuery<Row> {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly #strings: readonly string[];
  readonly #parts: readonly unknown[];

  constructor(strings: readonly string[], parts: readonly unknown[]) {
    this.#strings = strings;
    this.#parts = parts;
    const values: unknown[] = [];
    this.text = this.#write(values);
    this.values = values;
  }

  #write(values: unknown[]): string {
    return this.#parts.reduce<string>((text, part, i) => {
      const written = part instanceof TaggedQuery ? part.#write(values) : `$${values.push(part)}`;
      return text + written + this.#strings[i + 1]!;
    }, this.#strings[0]!);
  }
}

/**
 * Builds a query from a template. Interpolated values become parameters. Interpolated `sql` queries become part of the
 * text.
 *
 * @example sql<{ id: string }>`select id from todo where owner_id = ${userID}`
 */
export function sql<Row = unknown>(strings: TemplateStringsArray, ...parts: readonly unknown[]): SqlQuery<Row>;
/**
 * Types the rows of another library's query, with the names that the columns have in SQL.
 *
 * @example sql<{ id: string; owner_id: string }>(db.select().from(todo))
 */
export function sql<Row>(query: QuerySource): SqlQuery<Row>;
export function sql<Row>(query: TemplateStringsArray | QuerySource, ...parts: readonly unknown[]): SqlQuery<Row> {
  return isTemplate(query) ? new TaggedQuery<Row>(query, parts) : (readQuery(query) as SqlQuery<Row>);
}

function isTemplate(query: TemplateStringsArray | QuerySource): query is TemplateStringsArray {
  return Array.isArray(query) && 'raw' in query;
}

/**
 * Returns the text and the values of a query of any supported library.
 * @throws SetupError if it is not such a query
 */
export function readQuery(source: QuerySource): SqlQuery {
  const query: Partial<SqlQuery> = Object(source) === source ? partsOf(source) : {};
  if (typeof query.text !== 'string' || !Array.isArray(query.values)) throw new SetupError(adviceFor(source));
  return query as SqlQuery;
}

function adviceFor(source: unknown): string {
  if (typeof source === 'string') return 'its query is plain text. Use the `sql` tag: sql`select …`';
  if (source instanceof Promise) {
    return 'its query is a promise. `query` must return the query itself: it cannot be async';
  }
  if (source === undefined) return 'its query is undefined. Does the function `query` lack a `return`?';
  return 'its query is none from the `sql` tag, Kysely, Drizzle or Prisma. Use the `sql` tag: sql`select …`';
}

function partsOf(source: QuerySource): SqlQuery {
  // Prisma's queries have both a `text` with $1 and a `sql` with question marks.
  if ('text' in source) return source;
  if ('compile' in source) return partsOf(source.compile());
  if ('toSQL' in source) return partsOf(source.toSQL());
  if ('values' in source) return { text: source.sql, values: source.values };
  return { text: source.sql, values: 'parameters' in source ? source.parameters : source.params };
}

/** Quotes an SQL identifier; several parts make a qualified name. */
export function identifier(...parts: readonly string[]): string {
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
}

/**
 * Quotes text as an SQL string literal that means the same under any `standard_conforming_strings`. Only for text that
 * Tidemark itself writes.
 */
export function quotedText(text: string): string {
  return escapeLiteral(text);
}

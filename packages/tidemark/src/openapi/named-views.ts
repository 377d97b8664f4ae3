/** Views with their names and schemas in the document. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { toCamelCase, type UniqueNames, upperFirst } from './names.js';
import { describeValidator } from './schemas/json-schema.js';
import { type DescribedRows, rowSchema } from './schemas/row-schema.js';
import type { SchemaObject } from './types.js';
import { reservedParameters } from './view-conventions.js';

/** The properties of a view that the document describes. */
export interface DescribedView {
  readonly name: string;
  /** The columns that identify a row. */
  readonly key: readonly string[];
  /** The format of its keys. */
  readonly keys: string;
  /** The format of its keys after their prefix, if a template makes them. */
  readonly template?: string | undefined;
  /** Postgres's description of its rows, if it was requested. */
  readonly rows?: DescribedRows | undefined;
  /** The application's validator of its arguments, if it has any. */
  readonly args?: StandardSchemaV1 | undefined;
  /** Arguments as an example. */
  readonly sampleArgs?: unknown;
  /** The application's validator of its rows, which takes precedence. */
  readonly row?: StandardSchemaV1 | undefined;
}

/** A view with its names in the document. */
export interface NamedView {
  readonly view: DescribedView;
  readonly schema: SchemaObject;
  /** The schema of the arguments, if the view has any. */
  readonly args: SchemaObject | undefined;
  readonly read: string;
  readonly readRow: string;
  readonly row: string;
  /** The component of the arguments. */
  readonly argsName: string;
  readonly patch: string;
}

/** The component of the list of views. */
export const listComponent = 'Views';

/**
 * Assigns views their names in the document. Reserves the names of their operations.
 * @param warnings receives the gaps in the document
 */
export async function nameViews(
  views: readonly DescribedView[],
  operationIds: UniqueNames,
  warnings: string[],
): Promise<NamedView[]> {
  const schemas = await Promise.all(views.map((view) => schemaOf(view, warnings)));
  const args = await Promise.all(views.map((view) => argsOf(view, warnings)));
  return views.map((view, i) => {
    const name = upperFirst(toCamelCase(view.name, 'view'));
    const read = operationIds.take(`read${name}`);
    const component = read.replace(/^read/, '');
    const readRow = operationIds.take(`${read}Row`);
    const names = { row: `${component}Row`, patch: `${component}Patch`, argsName: `${component}Args` };
    return { view, schema: schemas[i]!, args: args[i], read, readRow, ...names };
  });
}

async function argsOf({ name, args }: DescribedView, warnings: string[]): Promise<SchemaObject | undefined> {
  if (!args) return undefined;
  const { schema, lack } = await describeValidator(args, 'input');
  if (lack !== undefined) warnings.push(`${name}: its arguments ${lack}`);
  const taken = Object.keys((schema.properties ?? {}) as object).filter((property) => reservedParameters.has(property));
  if (taken.length > 0) {
    warnings.push(
      `${name}: over HTTP, its arguments ${taken.join(', ')} have the names of other parameters; rename them`,
    );
  }
  return schema;
}

async function schemaOf({ name, row, rows }: DescribedView, warnings: string[]): Promise<SchemaObject> {
  if (!row) return rows ? rowSchema(rows) : { type: 'object' };
  const { schema, lack } = await describeValidator(row, 'input');
  if (lack !== undefined) warnings.push(`${name}: its rows ${lack}`);
  return schema;
}

/** Returns the names of the components of views. */
export function componentsOfViews(views: readonly NamedView[]): string[] {
  return views.length === 0
    ? []
    : [listComponent, ...views.flatMap(({ row, patch, args, argsName }) => [row, patch, ...(args ? [argsName] : [])])];
}

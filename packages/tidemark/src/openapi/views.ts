/** Describes the operations that read views. */
import { toPathSegment } from '../protocol/path-segment.js';
import { type DescribedView, listComponent, type NamedView } from './named-views.js';
import { headerRef } from './problems.js';
import type { ComponentSchemas } from './schemas/component-schemas.js';
import type { Operation, Parameter, PathItem, Reference, SchemaObject, Tag } from './types.js';
import { notModified, patchSchema, rowsResponse, viewParameters } from './view-conventions.js';

const root = '/api/views';

/** The tag of the operations that read views. */
export const viewsTag: Tag = { name: 'views', description: 'What the caller sees, as rows or as changes.' };

/** Describes the paths that read views, and adds the components that they need. */
export function describeViews(
  views: readonly NamedView[],
  schemas: ComponentSchemas,
  failures: Readonly<Record<string, Reference>>,
  listID: string,
): [path: string, item: PathItem][] {
  if (views.length === 0) return [];
  return [
    [root, { get: listOperation(listID, schemas, failures) }],
    ...views.flatMap((named): [string, PathItem][] => {
      const { view, schema, row, patch, args, argsName } = named;
      if (args) schemas.hoist(argsName, args, 'input');
      const rowRef = schemas.hoist(row, schema, 'input');
      const patchRef = schemas.set(patch, patchSchema(view.keys, rowRef));
      const path = `${root}/${toPathSegment(view.name)}`;
      return [
        [path, { get: readOperation(named, rowRef, patchRef, failures) }],
        [`${path}/{key}`, { get: readRowOperation(named, rowRef, patchRef, failures) }],
      ];
    }),
  ];
}

const allParameters = Object.keys(viewParameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));

const keyParameter: Parameter = {
  name: 'key',
  in: 'path',
  required: true,
  description:
    "The row's key. Percent-encode it whole, slashes included. URLs cannot contain an empty key, `.` or `..`: write `~`, " +
    '`~.` or `~..`. If a key consists of tildes and up to two dots, add a tilde to it.',
  schema: { type: 'string' },
};

function listOperation(
  operationId: string,
  schemas: ComponentSchemas,
  failures: Readonly<Record<string, Reference>>,
): Operation {
  const list = schemas.set(listComponent, {
    type: 'object',
    required: ['views'],
    properties: {
      views: {
        type: 'array',
        items: {
          type: 'object',
          required: ['name', 'key', 'keys', 'href'],
          properties: {
            name: { type: 'string' },
            key: { type: 'array', items: { type: 'string' }, description: 'The columns that identify a row.' },
            keys: {
              type: 'string',
              description:
                'What keys look like, in a patch: the columns are in braces, and `…` stands for a prefix of the caller’s own.',
            },
            prefix: {
              type: 'string',
              description: 'What keys begin with, in a patch. Not there if it depends on the caller.',
            },
            href: { type: 'string', description: 'Where it is read.' },
          },
        },
      },
    },
  });
  return {
    operationId,
    tags: [viewsTag.name],
    summary: 'List the views',
    description: 'The names of all views, and where they are read.',
    parameters: [{ $ref: '#/components/parameters/IfNoneMatch' }],
    responses: {
      200: {
        description: 'The views.',
        headers: { ETag: headerRef('ETag'), 'X-Request-ID': headerRef('RequestID') },
        content: { 'application/json': { schema: { ...list } } },
      },
      304: notModified,
      ...failures,
    },
  };
}

function readOperation(
  named: NamedView,
  row: Reference,
  patch: Reference,
  failures: Readonly<Record<string, Reference>>,
): Operation {
  const { view, read } = named;
  const rows: SchemaObject = { type: 'array', items: { ...row } };
  return {
    operationId: read,
    tags: [viewsTag.name],
    summary: `Read ${view.name}`,
    description: `The caller's rows of the view \`${view.name}\`, in the order of their keys; or, with \`since\`, what has changed.`,
    parameters: [...argumentParameters(named), ...allParameters],
    responses: { 200: rowsResponse(rows, patch), 304: notModified, ...failures },
  };
}

/** Returns a parameter for each argument. Its schema is that of the component, because it may refer to others there. */
function argumentParameters({ view, args, argsName }: NamedView): Parameter[] {
  const properties = Object.entries((args?.properties ?? {}) as Record<string, SchemaObject>);
  const required = new Set((args?.required ?? []) as string[]);
  const examples = (view.sampleArgs ?? {}) as Readonly<Record<string, unknown>>;
  return properties.map(([name, { description }]) => ({
    name,
    in: 'query',
    ...(required.has(name) && { required: true as const }),
    description: typeof description === 'string' ? description : 'An argument of the view.',
    schema: { $ref: `#/components/schemas/${argsName}/properties/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` },
    ...(examples[name] !== undefined && { example: examples[name] }),
  }));
}

function readRowOperation(
  named: NamedView,
  row: Reference,
  patch: Reference,
  failures: Readonly<Record<string, Reference>>,
): Operation {
  const { view, readRow } = named;
  return {
    operationId: readRow,
    tags: [viewsTag.name],
    summary: `Read a row of ${view.name}`,
    description: `The row of the view \`${view.name}\` with a key: ${keyOf(view)}.`,
    parameters: [keyParameter, ...argumentParameters(named), ...allParameters],
    responses: { 200: rowsResponse({ ...row }, patch), 304: notModified, ...failures },
  };
}

function keyOf({ key, template }: DescribedView): string {
  if (template !== undefined) {
    return `\`${template}\`, with the text of each column; in each of them, \`%\` and \`/\` are written as \`%25\` and \`%2F\``;
  }
  const names = key.map((name) => `\`${name}\``);
  return names.length === 1
    ? `the text of ${names[0]}`
    : `the texts of ${names.join(', ')}, joined with slashes; in each of them, \`%\` and \`/\` are written as \`%25\` and \`%2F\``;
}

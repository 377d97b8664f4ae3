/** The parameters, headers and responses that all operations on views share. */
import { headerRef } from './problems.js';
import type { HeaderObject, Parameter, Reference, Response, SchemaObject } from './types.js';

/** The entries of `components/parameters` for operations on views. */
export const viewParameters: Readonly<Record<string, Parameter>> = {
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier response. If nothing has changed for the caller, the response is 304.',
    schema: { type: 'string' },
  },
  PreferWait: {
    name: 'Prefer',
    in: 'header',
    description:
      'With `wait=30`, a request with `If-None-Match` or `since` is held for up to so many seconds, until something changes. ' +
      'At most 60. With `handling=strict`, parameters that are not arguments of the view are refused.',
    schema: { type: 'string' },
  },
  LastEventID: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'Where a stream goes on: the ID of the last event.',
    schema: { type: 'string' },
  },
  Since: {
    name: 'since',
    in: 'query',
    description:
      'Asks for what has changed since a cookie, which is the `cookie` of an earlier response, or its `ETag`. If it is empty or ' +
      'cannot be used, all rows come after a `clear`.',
    schema: { type: 'string' },
  },
  ProfileID: {
    name: 'profileID',
    in: 'query',
    description: 'The ID of the browser profile, for views that depend on it.',
    schema: { type: 'string', maxLength: 256 },
  },
  SchemaVersion: {
    name: 'schemaVersion',
    in: 'query',
    description: 'The version of the schema, for views that depend on it.',
    schema: { type: 'string', maxLength: 1024 },
  },
};

/** The parameters of query strings that are not arguments of views. */
export const reservedParameters: ReadonlySet<string> = new Set(
  Object.values(viewParameters).flatMap((parameter) => (parameter.in === 'query' ? parameter.name : [])),
);

/** The entries of `components/headers` for operations on views. */
export const viewHeaders: Readonly<Record<string, HeaderObject>> = {
  ETag: { description: 'Names this state of the rows.', schema: { type: 'string' } },
  WaitApplied: {
    description: 'The request would have been held, for up to so many seconds.',
    schema: { type: 'string' },
  },
};

/** Returns the response with rows, or with what has changed. */
export function rowsResponse(rows: SchemaObject, patch: Reference): Response {
  return {
    description: 'The rows; or, with `since`, what has changed.',
    headers: {
      ETag: headerRef('ETag'),
      'Preference-Applied': headerRef('WaitApplied'),
      'X-Request-ID': headerRef('RequestID'),
    },
    content: {
      'application/json': { schema: { anyOf: [rows, { ...patch }] } },
      'application/x-ndjson': { schema: { type: 'string', description: 'A row on each line.' } },
      'text/event-stream': {
        schema: {
          type: 'string',
          description: 'Events `patch`: their data is the `patch` of a response with `since`, their ID its `cookie`.',
        },
      },
    },
  };
}

/** The response if nothing has changed. */
export const notModified: Response = {
  description: 'Nothing has changed for the caller.',
  headers: { ETag: headerRef('ETag'), 'X-Request-ID': headerRef('RequestID') },
};

/**
 * Returns the schema of a response with what has changed.
 * @param keys the format of keys
 */
export function patchSchema(keys: string, row: Reference): SchemaObject {
  const key = { type: 'string', description: `The row's key, as \`${keys}\`.` };
  const op = (name: string, extraProperties: Readonly<Record<string, SchemaObject>> = {}): SchemaObject => ({
    type: 'object',
    required: ['op', ...Object.keys(extraProperties)],
    properties: { op: { type: 'string', const: name }, ...extraProperties },
  });
  return {
    type: 'object',
    required: ['cookie', 'patch'],
    properties: {
      cookie: { type: 'string', description: 'For the next `since`.' },
      patch: {
        type: 'array',
        description: 'What to do with the rows, in order.',
        items: { oneOf: [op('put', { key, value: { ...row } }), op('del', { key }), op('clear')] },
      },
    },
  };
}

/** The headers, parameters and answers that all calls share. */
import { headerRef } from './problems.js';
import type { HeaderObject, Parameter, Reference, Response, SchemaObject } from './types.js';

/** Returns the document's `components/headers`, except for those of views. */
export function describeHeaders(hasMutators: boolean, idempotent: boolean): Readonly<Record<string, HeaderObject>> {
  return {
    RequestID: { description: "The request's ID in the server's log.", schema: { type: 'string' } },
    ...(hasMutators && {
      PreferenceApplied: {
        description: 'The call was rolled back, as the request asked.',
        schema: { type: 'string', const: 'tx=rollback' },
      },
    }),
    ...(hasMutators &&
      idempotent && {
        IdempotentReplayed: {
          description: 'The call was made before: this is the stored answer.',
          schema: { type: 'string', const: 'true' },
        },
      }),
    RetryAfter: {
      description: 'The number of seconds to wait before trying again.',
      schema: { type: 'integer', minimum: 0 },
    },
    WWWAuthenticate: { description: 'How to authenticate.', schema: { type: 'string' } },
  };
}

/** Returns the document's `components/parameters` for calls. */
export function describeParameters(idempotent: boolean): Readonly<Record<string, Parameter>> {
  return {
    ...(idempotent && {
      IdempotencyKey: {
        name: 'Idempotency-Key',
        in: 'header',
        description:
          'A string that the caller chooses: a new one for each call, and the same one for its retries. A call is applied once ' +
          'for each key, and retries get the first answer. 1 to 255 printable ASCII characters, bare or as a quoted string ' +
          '([draft-ietf-httpapi-idempotency-key-header](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/)).',
        schema: { type: 'string', minLength: 1, maxLength: 255, pattern: keyPattern },
      },
    }),
    Prefer: {
      name: 'Prefer',
      in: 'header',
      description: 'With `tx=rollback`, the call runs and is then rolled back.',
      schema: { type: 'string', enum: ['tx=rollback'] },
    },
  };
}

/** Bare characters, or a string as in a structured header. */
const keyPattern = '^([!#-~][ -~]*|"([ !#-[\\]-~]|\\\\["\\\\])+")$';

/** Returns an operation's references to the document's parameters. */
export function parameterRefs(parameters: Readonly<Record<string, Parameter>>): readonly Reference[] {
  return Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** The schema of a mutator's result if the mutator does not declare one. */
export const anyResult: SchemaObject = {
  description: 'What the mutator returned, as JSON. Absent if it returned nothing.',
};

/** Returns the schema of the answer to a successful call. */
export function answerSchema(result: SchemaObject, isRequired: boolean): SchemaObject {
  const rolledBack = { type: 'boolean', const: true, description: 'The call ran and was rolled back.' };
  return {
    type: 'object',
    required: isRequired ? ['ok', 'result'] : ['ok'],
    properties: { ok: { type: 'boolean', const: true }, result, rolledBack },
    ...(!isRequired && { examples: [{ ok: true }] }),
  };
}

/** Returns the response with status 200. */
export function successResponse(description: string, schema: SchemaObject, idempotent: boolean): Response {
  return {
    description,
    headers: {
      'X-Request-ID': headerRef('RequestID'),
      'Preference-Applied': headerRef('PreferenceApplied'),
      ...(idempotent && { 'Idempotent-Replayed': headerRef('IdempotentReplayed') }),
    },
    content: { 'application/json': { schema } },
  };
}

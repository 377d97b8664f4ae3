import { catalogue, type ProblemCode, problemType } from '../errors.js';
import type { Content, Reference, Response, SchemaObject } from './types.js';

/** The codes with which a call can fail. The catalogue's other codes are for other routes and methods. */
const codesOfCalls: readonly ProblemCode[] = [
  'malformed-request',
  'mutator-name-missing',
  'mutator-error',
  'unauthenticated',
  'forbidden',
  'unknown-mutator',
  'conflict',
  'idempotency-key-in-flight',
  'body-too-large',
  'unsupported-media-type',
  'invalid-args',
  'invalid-values',
  'idempotency-key-reused',
  'too-many-requests',
  'internal',
  'unavailable',
];
const codesOfKeys: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'idempotency-key-in-flight',
  'idempotency-key-reused',
]);

/** The codes with which reading a view can fail. */
const codesOfReads: readonly ProblemCode[] = [
  'malformed-request',
  'unauthenticated',
  'forbidden',
  'unknown-view',
  'unknown-key',
  'invalid-args',
  'too-many-requests',
  'internal',
  'unavailable',
];

const problemRef: Reference = { $ref: '#/components/schemas/Problem' };
const requestID = 'a1b2-c3d4-0';

/** Members that only problems with one code have. */
const extensions: Partial<Record<ProblemCode, object>> = {
  'invalid-args': { issues: [{ path: ['title'], message: 'Invalid input: expected string, received undefined' }] },
  'mutator-error': { details: { remaining: 0 } },
};

/** The parts of the document that describe failures. */
export interface Problems {
  /** `components/schemas/Problem`. */
  readonly schema: SchemaObject;
  /** `components/responses`. */
  readonly responses: Readonly<Record<string, Response>>;
  /** The failures of a call, by status. */
  readonly ofCalls: Readonly<Record<string, Reference>>;
  /** The failures of reading a view, by status. */
  readonly ofReads: Readonly<Record<string, Reference>>;
}

/** The parts of an application that the document describes. */
export interface Surface {
  readonly hasMutators: boolean;
  readonly hasViews: boolean;
  /** True if a view has arguments. */
  readonly hasArgs: boolean;
  readonly idempotent: boolean;
}

/** Describes the failures in the catalogue. */
export function describeProblems({ hasMutators, hasViews, hasArgs, idempotent }: Surface): Problems {
  const ofCalls = hasMutators ? codesOfCalls.filter((code) => idempotent || !codesOfKeys.has(code)) : [];
  const ofReads = hasViews ? codesOfReads.filter((code) => hasArgs || code !== 'invalid-args') : [];
  const calls = byStatus(ofCalls, hasMutators ? { '4XX': refusal() } : {});
  const reads = byStatus(ofReads);
  return {
    schema: problemSchema([...new Set([...ofCalls, ...ofReads])]),
    responses: { ...named(calls, 'Problem'), ...named(reads, 'ReadProblem') },
    ofCalls: references(calls, 'Problem'),
    ofReads: references(reads, 'ReadProblem'),
  };
}

type Responses = readonly (readonly [status: string, response: Response])[];

function byStatus(codes: readonly ProblemCode[], extraResponses: Readonly<Record<string, Response>> = {}): Responses {
  const statuses = [...new Set(codes.map((code) => catalogue[code].status))];
  const responses = statuses.map((status): [string, Response] => [
    String(status),
    responseOf(codes.filter((code) => catalogue[code].status === status)),
  ]);
  return [...responses, ...Object.entries(extraResponses)].sort(([a], [b]) => (a < b ? -1 : 1));
}

function named(responses: Responses, prefix: string): Record<string, Response> {
  return Object.fromEntries(responses.map(([status, response]) => [`${prefix}${status}`, response]));
}

function references(responses: Responses, prefix: string): Record<string, Reference> {
  return Object.fromEntries(
    responses.map(([status]) => [status, { $ref: `#/components/responses/${prefix}${status}` }]),
  );
}

function responseOf(codes: readonly ProblemCode[]): Response {
  const waits = codes.some((code) => catalogue[code].retryAfter !== undefined);
  return {
    description: codes.map((code) => `\`${code}\`: ${catalogue[code].title}.`).join('\n\n'),
    headers: {
      'X-Request-ID': headerRef('RequestID'),
      ...(waits && { 'Retry-After': headerRef('RetryAfter') }),
      ...(codes.includes('unauthenticated') && { 'WWW-Authenticate': headerRef('WWWAuthenticate') }),
    },
    content: contentOf(codes.map((code) => [code, exampleOf(code)])),
  };
}

function refusal(): Response {
  return {
    description: `\`mutator-error\`: ${catalogue['mutator-error'].title}. It chooses the status.`,
    headers: { 'X-Request-ID': headerRef('RequestID') },
    content: contentOf([['mutator-error', { ...exampleOf('mutator-error'), status: 402 }]]),
  };
}

function contentOf(examples: readonly (readonly [string, object])[]): Content {
  return {
    'application/problem+json': {
      schema: { ...problemRef },
      examples: Object.fromEntries(examples.map(([code, value]) => [code, { value }])),
    },
  };
}

function exampleOf(code: ProblemCode): object {
  const { title, status } = catalogue[code];
  return { type: problemType(code), title, status, detail: title, error: title, code, requestID, ...extensions[code] };
}

function problemSchema(codes: readonly ProblemCode[]): SchemaObject {
  return {
    type: 'object',
    description: 'A failure, in the form of RFC 9457.',
    required: ['type', 'title', 'status', 'detail', 'error', 'code', 'requestID'],
    properties: {
      type: { type: 'string', format: 'uri', description: 'The code as a URI.' },
      title: { type: 'string', description: 'What the code means.' },
      status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status.' },
      detail: { type: 'string', description: 'What went wrong this time.' },
      error: { type: 'string', description: 'The same as `detail`.' },
      code: {
        type: 'string',
        enum: codes,
        description: 'The kind of failure. Codes are stable; texts are not.',
      },
      requestID: { type: 'string', description: "The request's ID in the server's log." },
      issues: {
        type: 'array',
        description: 'With `invalid-args`: what the validator did not accept.',
        items: {
          type: 'object',
          required: ['path', 'message'],
          properties: {
            path: {
              type: 'array',
              items: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
              description: 'Where it is in the arguments.',
            },
            message: { type: 'string' },
          },
        },
      },
      details: { description: 'With `mutator-error`: what the mutator adds. Any JSON value.' },
      index: { type: 'integer', minimum: 0, description: 'In a batch: the index of the call that failed.' },
    },
  };
}

/** Returns a reference to one of `components/headers`. */
export function headerRef(name: string): Reference {
  return { $ref: `#/components/headers/${name}` };
}

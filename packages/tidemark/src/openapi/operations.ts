import { maxBatchLength } from '../protocol/calls.js';
import type { CallDescription, DescribedMutator } from './call.js';
import { answerSchema, anyResult, successResponse } from './conventions.js';
import { upperFirst } from './names.js';
import type { ComponentSchemas } from './schemas/component-schemas.js';
import type { Operation, Reference, RequestBody, SchemaObject } from './types.js';

/** The parts that all operations of mutators share. */
export interface Common {
  readonly parameters: readonly Reference[];
  /** The responses to failures, by status. */
  readonly failures: Readonly<Record<string, Reference>>;
  readonly idempotent: boolean;
}

/** A mutator with its names in the document. */
export interface NamedMutator {
  readonly name: string;
  readonly mutator: DescribedMutator;
  readonly operationId: string;
  readonly tag: string;
}

/** Returns the names of the components that a mutator can have. */
export function componentNames(operationId: string): { args: string; result: string; call: string } {
  const prefix = upperFirst(operationId);
  return { args: `${prefix}Args`, result: `${prefix}Result`, call: `${prefix}Call` };
}

/** The names of the components that the operations share. */
export const sharedComponents = { answer: 'Answer', call: 'Call' };

/** Adds components for a mutator's args and for its call in a batch. Returns a reference to the args, if it has any. */
export function putArgs(
  { name, operationId }: NamedMutator,
  call: CallDescription,
  schemas: ComponentSchemas,
): Reference | undefined {
  const components = componentNames(operationId);
  const args = call.args && schemas.hoist(components.args, call.args, 'input');
  schemas.set(components.call, {
    type: 'object',
    required: args && call.areArgsRequired ? ['name', 'args'] : ['name'],
    properties: { name: { type: 'string', const: name }, ...(args && { args }) },
  });
  return args;
}

/**
 * Describes the operation of a mutator whose args have been added. Adds a component for its declared result, if any.
 */
export function describeOperation(
  { name, mutator, operationId, tag }: NamedMutator,
  call: CallDescription,
  args: Reference | undefined,
  schemas: ComponentSchemas,
  common: Common,
): Operation {
  const answer = call.result
    ? answerSchema(
        { ...schemas.hoist(componentNames(operationId).result, call.result, 'output') },
        call.isResultRequired,
      )
    : { ...schemas.set(sharedComponents.answer, answerSchema(anyResult, false)) };
  return {
    operationId,
    tags: [tag],
    summary: mutator.summary ?? `Call ${name}`,
    description: mutator.description ?? `Runs the mutator \`${name}\`.`,
    ...(mutator.deprecated && { deprecated: true }),
    parameters: common.parameters,
    ...(args && { requestBody: requestBody(args, call) }),
    responses: {
      200: successResponse(
        'The mutator ran. Its writes are committed, unless `rolledBack` is true.',
        answer,
        common.idempotent,
      ),
      ...common.failures,
    },
  };
}

function requestBody(args: Reference, { areArgsRequired, examples }: CallDescription): RequestBody {
  return {
    ...(areArgsRequired && { required: true }),
    content: {
      'application/json': { schema: { ...args }, ...(Object.keys(examples).length > 0 && { examples }) },
    },
  };
}

/** Describes the operation that runs several calls in one transaction. */
export function describeBatch(
  operationId: string,
  tag: string,
  mutators: readonly NamedMutator[],
  schemas: ComponentSchemas,
  common: Common,
): Operation {
  const calls = mutators.map(({ name, operationId }) => {
    return { name, $ref: `#/components/schemas/${componentNames(operationId).call}` };
  });
  const call = schemas.set(sharedComponents.call, {
    description: 'A call of a mutator, by name.',
    ...choiceOf(calls),
  });
  const answers: SchemaObject = {
    type: 'array',
    description: 'In the order of the calls.',
    items: { ...schemas.set(sharedComponents.answer, answerSchema(anyResult, false)) },
  };
  return {
    operationId,
    tags: [tag],
    summary: 'Call several mutators',
    description:
      'Runs the calls in order, in one transaction. If one fails, none is applied, and `index` in the response says which ' +
      'one failed.',
    parameters: common.parameters,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { type: 'array', maxItems: maxBatchLength, items: { ...call } } } },
    },
    responses: {
      200: successResponse(
        'All mutators ran. Their writes are committed, unless `rolledBack` is true.',
        answers,
        common.idempotent,
      ),
      ...common.failures,
    },
  };
}

/** Returns the schema of a choice among calls. Uses `oneOf` only for two or more. */
function choiceOf(calls: readonly { readonly name: string; readonly $ref: string }[]): SchemaObject {
  const [first, ...others] = calls.map(({ $ref }) => ({ $ref }));
  if (!first) return { not: {} };
  if (others.length === 0) return first;
  return {
    oneOf: [first, ...others],
    discriminator: {
      propertyName: 'name',
      mapping: Object.fromEntries(calls.map(({ name, $ref }) => [name, $ref])),
    },
  };
}

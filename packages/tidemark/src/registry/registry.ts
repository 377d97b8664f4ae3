import type { StandardSchemaV1 } from '@standard-schema/spec';
import { SetupError } from '../errors.js';
import type { Mutator, Mutators } from './mutators.js';
import { collectLeaves } from './tree.js';

/**
 * The registry that `defineMutators` of `@rocicorp/zero` returns. It is recognized by its structure: nested objects,
 * tagged under `~`, of functions with the properties `mutatorName` and `fn`.
 */
export interface ZeroRegistry {
  readonly '~': typeof zeroTag;
}

const zeroTag = 'MutatorRegistry';

/** Mutators that can be served: the result of `defineMutators` from this library or from Zero. */
export type Registry<Tx, Context> = Mutators<Tx, Context> | ZeroRegistry;

/**
 * Validators by mutator name, for mutators without one of their own. Nested like the mutators, or under dotted names.
 */
export interface Validators {
  readonly [name: string]: StandardSchemaV1 | Validators;
}

interface ZeroMutator {
  readonly mutatorName: string;
  readonly fn: (call: { tx: unknown; args: unknown; ctx: unknown }) => Promise<unknown>;
}

/**
 * Flattens a registry, and adds the validators to the mutators.
 * @throws SetupError for an entry that is not a mutator; or one that lists every validator that is not a Standard
 * Schema validator, has no mutator, or has a mutator with a validator of its own.
 */
export function toMutators<Tx, Context>(
  registry: Registry<Tx, Context>,
  validators: Validators = {},
): Mutators<Tx, Context> {
  const validatorLeaves = collectLeaves(validators, isValidator, 'a Standard Schema validator');
  const faults = validatorLeaves.faults.map((fault) => `the validator ${fault}`);
  const mutators = new Map<string, Mutator<Tx, Context>>(
    isMutatorMap(registry)
      ? registry
      : collectZero(registry).map(({ mutatorName, fn }) => [mutatorName, toMutator(fn)]),
  );
  for (const [name, validator] of validatorLeaves.leaves) {
    const mutator = mutators.get(name);
    if (mutator === undefined) faults.push(`the validator "${name}" has no mutator`);
    else if (mutator.validator !== undefined) faults.push(`"${name}" already has its own validator`);
    else mutators.set(name, { ...mutator, validator });
  }
  if (faults.length > 0) throw new SetupError(`The mutators cannot be served: ${faults.join('; ')}.`);
  return mutators;
}

/** Returns true if a value is a registry. The compiler does not check the exports of a configuration file. */
export function isRegistry(value: unknown): value is Registry<unknown, unknown> {
  return (
    typeof value === 'object' && value !== null && (isMutatorMap(value) || ('~' in value && value['~'] === zeroTag))
  );
}

/** Does not use `instanceof`, because a configuration file may run in its own realm, with its own Map. */
function isMutatorMap<Tx, Context>(registry: object): registry is Mutators<Tx, Context> {
  return Object.prototype.toString.call(registry) === '[object Map]';
}

function toMutator(fn: ZeroMutator['fn']): Mutator<unknown, unknown> {
  return { validator: undefined, run: fn, validates: true };
}

/** @throws SetupError for an entry that is not a mutator. */
function collectZero(node: object): ZeroMutator[] {
  return Object.entries(node).flatMap(([key, child]) => {
    if (key === '~') return [];
    if (isZeroMutator(child)) return [child];
    if (typeof child === 'object' && child !== null) return collectZero(child);
    throw new SetupError(`The mutators cannot be served: "${key}" is not a mutator from Zero's defineMutators.`);
  });
}

function isZeroMutator(node: unknown): node is ZeroMutator {
  return (
    typeof node === 'function' &&
    'mutatorName' in node &&
    typeof node.mutatorName === 'string' &&
    'fn' in node &&
    typeof node.fn === 'function'
  );
}

/** Returns true if a value is a validator. Some validators are functions. */
function isValidator(node: unknown): node is StandardSchemaV1 {
  return (typeof node === 'object' || typeof node === 'function') && node !== null && '~standard' in node;
}

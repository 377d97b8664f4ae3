import type { IR } from '@tanstack/db';
import { ClientError } from '../client-error.js';

export type Condition = IR.BasicExpression;

/** The arguments of an instance of a view. */
export type SubsetArgs = Readonly<Record<string, unknown>>;

/** The values that conditions allow for fields. A field that is missing can have any value. */
type Allowed = ReadonlyMap<string, readonly unknown[]>;

const anything: readonly Allowed[] = [new Map()];

/**
 * Returns the arguments of the instances that have all rows of a query. The query's conditions must fix each argument by
 * an equality or a list of values. Other conditions only select from these rows.
 *
 * @param view the name of the view
 * @param args the names of the arguments, each of which is also that of a field
 * @param where the conditions of the query
 * @throws ClientError if the conditions leave an argument open
 */
export function instancesOf(view: string, args: readonly string[], where: Condition | undefined): SubsetArgs[] {
  const alternatives = where ? alternativesOf(where) : anything;
  const instances = alternatives.flatMap((allowed) => {
    const missing = args.find((arg) => !allowed.has(arg));
    if (missing !== undefined) throw openArgument(view, missing);
    return combinations(args, allowed);
  });
  return [...new Map(instances.map((instance) => [JSON.stringify(instance), instance])).values()];
}

/** Returns what a condition allows: one of several alternatives, of which there are none if no row can meet it. */
function alternativesOf(condition: Condition): readonly Allowed[] {
  if (condition.type === 'val') return condition.value === true ? anything : [];
  if (condition.type !== 'func') return anything;
  const { name, args } = condition;
  if (name === 'and') return args.map(alternativesOf).reduce(both, anything);
  if (name === 'or') return args.flatMap(alternativesOf);
  const [left, right] = args;
  if (name === 'eq') return equal(left, right) ?? equal(right, left) ?? anything;
  if (name === 'in') return oneOf(left, right?.type === 'val' ? right.value : undefined) ?? anything;
  return anything;
}

function equal(field: Condition | undefined, value: Condition | undefined): readonly Allowed[] | undefined {
  return value?.type === 'val' ? oneOf(field, [value.value]) : undefined;
}

function oneOf(field: Condition | undefined, values: unknown): readonly Allowed[] | undefined {
  if (!isField(field) || !Array.isArray(values)) return undefined;
  // Comparisons with null are never true.
  return [new Map([[field.path[0]!, values.filter((value) => value !== null && value !== undefined)]])];
}

function both(some: readonly Allowed[], others: readonly Allowed[]): readonly Allowed[] {
  return some.flatMap((one) =>
    others.map((other) => {
      const merged = new Map(one);
      for (const [field, values] of other) {
        merged.set(field, merged.get(field)?.filter((value) => values.includes(value)) ?? values);
      }
      return merged;
    }),
  );
}

/** Returns each combination of a value for each argument. */
function combinations(args: readonly string[], allowed: Allowed): SubsetArgs[] {
  return args.reduce<SubsetArgs[]>(
    (instances, arg) =>
      instances.flatMap((instance) => allowed.get(arg)!.map((value) => ({ ...instance, [arg]: value }))),
    [{}],
  );
}

/** True for a field of a row itself, not of an object in it. */
export function isField(expression: Condition | undefined): expression is IR.PropRef {
  return expression?.type === 'ref' && expression.path.length === 1;
}

function openArgument(view: string, arg: string): ClientError {
  const todo = `add where(({ ${view} }) => eq(${view}.${arg}, …)), or inArray for several values`;
  return new ClientError(
    'open-argument',
    `A query of the collection of "${view}" has no condition for the argument "${arg}", so which rows to sync is open. What to do: ${todo}.`,
  );
}

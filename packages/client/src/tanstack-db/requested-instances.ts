import type { IR, LoadSubsetOptions } from '@tanstack/db';
import { type Condition, instancesOf, isField, type SubsetArgs } from './subsets.js';

/** A field that a query orders by. */
export interface OrderField {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
  readonly nulls: 'first' | 'last';
}

/** Returns the arguments for the first rows of a query, given how many these are, and their order. */
export type LimitArgs = (limit: number, order: readonly OrderField[]) => SubsetArgs;

/** The instances that a collection's queries request. */
export class RequestedInstances {
  readonly #view: string;
  readonly #args: readonly string[];
  readonly #limitArgs: LimitArgs | undefined;
  /** The last request with a limit of each subscription. */
  readonly #limited = new WeakMap<object, { readonly where: unknown; readonly instances: SubsetArgs[] }>();

  constructor(view: string, args: readonly string[], limitArgs: LimitArgs | undefined) {
    this.#view = view;
    this.#args = args;
    this.#limitArgs = limitArgs;
  }

  /** Returns the arguments of the instances that have all rows of a request. */
  of({ where, orderBy = [], limit, offset = 0, subscription }: LoadSubsetOptions): SubsetArgs[] {
    const last = subscription && this.#limited.get(subscription);
    // TanStack DB also asks for all rows whose order equals that of the last row. The view decides which of them come first.
    if (last && limit === undefined && where?.type === 'func' && where.args[0] === last.where) return last.instances;
    const instances = instancesOf(this.#view, this.#args, where);
    const order = orderBy.flatMap(orderField);
    // With other conditions, the first rows that meet them may be any rows of the instances.
    const isLimited = limit !== undefined && order.length === orderBy.length && fixesOnly(where, this.#args);
    if (!isLimited || !this.#limitArgs) return instances;
    const limitedBy = this.#limitArgs(offset + limit, order);
    const limited = instances.map((instance) => ({ ...instance, ...limitedBy }));
    if (subscription) this.#limited.set(subscription, { where, instances: limited });
    return limited;
  }
}

function orderField({ expression, compareOptions: { direction, nulls } }: IR.OrderByClause): OrderField[] {
  return isField(expression) ? [{ field: expression.path[0]!, direction, nulls }] : [];
}

/** True if a condition is only about arguments. */
function fixesOnly(condition: Condition | undefined, args: readonly string[]): boolean {
  if (condition?.type === 'ref') return isField(condition) && args.includes(condition.path[0]!);
  if (condition?.type !== 'func') return true;
  return ['and', 'or', 'eq', 'in'].includes(condition.name) && condition.args.every((each) => fixesOnly(each, args));
}

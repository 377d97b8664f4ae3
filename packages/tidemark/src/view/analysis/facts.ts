/** Reads from the catalogs everything that an analyzed query refers to. */

import { findOrders } from '../../catalog/operators.js';
import { findRoutines, type Routine, type RoutineUse } from '../../catalog/routines.js';
import { findAlikeCollations, findTypes, type TypePart } from '../../catalog/types.js';
import type { Database } from '../../db/database.js';
import { collationOf, typeOf } from './expressions.js';
import {
  isNode,
  nodeList,
  nodesIn,
  numberOf,
  parseField,
  parseQueryTree,
  type QueryNode,
  queryNodes,
} from './query-tree.js';

export interface Facts {
  /**
   * Every function that the query runs, by OID. Includes those behind operators, in domain constraints and in default
   * arguments.
   */
  readonly routines: ReadonlyMap<number, Routine>;
  /** The expressions that run without being written in the query: domain constraints and default arguments. */
  readonly implied: readonly QueryNode[];
  /** The types of expressions, each with all its parts, by OID. */
  readonly types: ReadonlyMap<number, readonly TypePart[]>;
  /** The OIDs of the collations that consider different strings equal. */
  readonly alikeCollations: ReadonlySet<number>;
  /** The sort orders of each operator or its negation, each identified by its `<`, by OID. */
  readonly orders: ReadonlyMap<number, readonly number[]>;
}

/** Returns a type and all its parts; none for an OID that no expression has. */
export function partsOf(type: number | undefined, { types }: Facts): readonly TypePart[] {
  return types.get(type ?? 0) ?? [];
}

export async function readFacts(db: Database, query: QueryNode): Promise<Facts> {
  const uses = new Uses();
  uses.add(query);
  // The catalog entries may refer to more, so repeat this until nothing is added.
  for (;;) {
    const known = uses.size;
    const types = await findTypes(db, [...uses.types]);
    const routines = await findRoutines(db, uses);
    const checks = [...types.values()].flat().flatMap((part) => part.checks.map(parseQueryTree));
    const implied = [...checks, ...routines.flatMap((routine) => uses.defaultsOf(routine))];
    for (const tree of implied) uses.add(tree);
    if (uses.size > known) continue;
    const [alikeCollations, orders] = await Promise.all([
      findAlikeCollations(db, [...uses.collations]),
      findOrders(db, [...uses.comparisons]),
    ]);
    return {
      routines: new Map(routines.map((routine) => [routine.oid, routine])),
      implied,
      types,
      alikeCollations,
      orders,
    };
  }
}

class Uses implements RoutineUse {
  readonly functions = new Set<number>();
  readonly operators = new Set<number>();
  readonly operatorFunctions = new Set<number>();
  /** The operators in expressions. */
  readonly comparisons = new Set<number>();
  readonly types = new Set<number>();
  readonly collations = new Set<number>();
  /** The smallest number of arguments in any call of a function, by its OID. */
  readonly #arguments = new Map<number, number>();

  get size(): number {
    const sets = [this.functions, this.operators, this.operatorFunctions, this.types];
    return sets.reduce((sum, { size }) => sum + size, 0);
  }

  add(tree: QueryNode): void {
    for (const node of queryNodes(tree)) {
      for (const name of ['funcid', 'aggfnoid', 'winfnoid']) note(this.functions, numberOf(node, name));
      for (const name of ['eqop', 'sortop']) note(this.operators, numberOf(node, name));
      for (const opno of oidsOf(node, 'opnos')) note(this.operators, opno);
      note(this.operatorFunctions, numberOf(node, 'opfuncid'));
      note(this.comparisons, numberOf(node, 'opno'));
      for (const type of typesNamed(node)) note(this.types, type);
      note(this.collations, collationOf(node));
      if (node.tag === 'FUNCEXPR') this.#noteArguments(numberOf(node, 'funcid')!, nodeList(node, 'args').length);
    }
  }

  /** Returns the default arguments of a function, if any call omits some. */
  defaultsOf({ oid, argumentCount, defaults }: Routine): QueryNode[] {
    const given = this.#arguments.get(oid) ?? argumentCount;
    return given < argumentCount ? nodesIn(parseField(defaults!)) : [];
  }

  #noteArguments(oid: number, count: number): void {
    this.#arguments.set(oid, Math.min(count, this.#arguments.get(oid) ?? count));
  }
}

function note(set: Set<number>, oid: number | undefined): void {
  if (oid) set.add(oid);
}

/** Returns the types that a node yields, converts from, or reads values as. */
export function typesNamed(node: QueryNode): (number | undefined)[] {
  const { arg, returning } = node.fields;
  const inner = [node, arg, returning].filter(isNode).map(typeOf);
  const listed = ['funccoltypes', 'coltypes'].flatMap((name) => oidsOf(node, name));
  return [...inner, ...listed];
}

/** Returns a list of OIDs, which Postgres writes as `(o 23 25)`. */
function oidsOf({ fields }: QueryNode, name: string): number[] {
  const list = fields[name];
  return Array.isArray(list) ? list.slice(1).map(Number) : [];
}

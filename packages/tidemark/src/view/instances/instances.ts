/**
 * Instances of a view: the view with arguments. One query reads all instances that a client wants. It takes arrays with
 * a value for each instance in place of the parameters, so its text does not depend on how many there are. Pure.
 */
import { deparseSelect, parseSelect } from '../parse/syntax.js';
import { render, toTemplate } from '../parse/template.js';
import type { Tree } from '../parse/tree.js';
import { inlineWith } from '../partition/inline-with.js';

/** The names of the subqueries that yield the instances' parameters, and the rows of each instance. */
const parametersAlias = 'tidemark_i';
const rowsAlias = 'tidemark_v';

/** The parameters of one instance, as texts. */
export type InstanceTexts = readonly (string | null)[];

/**
 * Returns the query of any number of instances. An instance that has no parameters is the view itself.
 * @param text the query of one instance
 * @param parameterTypes the SQL names of the types of its parameters
 */
export function queryOfInstances(text: string, parameterTypes: readonly string[]): string {
  if (parameterTypes.length === 0) return text;
  const select = parseSelect(text);
  // Within LATERAL, `analyze` does not inline WITH queries.
  const inlined = inlineWith(select);
  const query = inlined && inlined !== select ? deparseSelect(inlined) : text;
  const names = parameterTypes.map((_, i) => `tidemark_p${i + 1}`);
  const one = render(
    toTemplate(query),
    names.map((name) => `${parametersAlias}.${name}`),
  );
  const columns = parameterTypes.map((type, i) => `${valueSql(type, i + 1)} as ${names[i]}`);
  return `select ${rowsAlias}.* from (select ${columns.join(', ')}) ${parametersAlias} cross join lateral (\n${one}\n) ${rowsAlias}`;
}

/** Returns the query of one instance, within a parsed query of any number of instances; undefined in other queries. */
export function queryOfOne({ fromClause }: Tree): Tree | undefined {
  const [item] = (fromClause ?? []) as { JoinExpr?: Tree }[];
  const { larg, rarg } = (item?.JoinExpr ?? {}) as Readonly<Record<string, { RangeSubselect?: Tree } | undefined>>;
  const aliasOf = (side: typeof larg) => (side?.RangeSubselect?.alias as Tree | undefined)?.aliasname;
  if (aliasOf(larg) !== parametersAlias || aliasOf(rarg) !== rowsAlias) return undefined;
  return (rarg!.RangeSubselect!.subquery as { SelectStmt: Tree }).SelectStmt;
}

/** There are no arrays of arrays, so values of array types come as text. */
function valueSql(type: string, number: number): string {
  return isArrayType(type) ? `unnest($${number}::text[])::${type}` : `unnest($${number}::${type}[])`;
}

/** Names of array types begin with an underscore, and few others do. */
export function isArrayType(type: string): boolean {
  return /\."?_/.test(type);
}

/** Returns different instances in an order that depends only on them. */
export function distinctInstances(instances: readonly InstanceTexts[]): readonly InstanceTexts[] {
  const byText = new Map(instances.map((instance) => [JSON.stringify(instance), instance]));
  return [...byText.keys()].sort().map((text) => byText.get(text)!);
}

/** Returns the values of each parameter. */
export function columnsOfInstances(instances: readonly InstanceTexts[], parameters: number): InstanceTexts[] {
  return Array.from({ length: parameters }, (_, i) => instances.map((instance) => instance[i]!));
}

/** How the instances that a client has differ from those that it wants. */
export interface InstanceDifference {
  readonly common: readonly InstanceTexts[];
  readonly added: readonly InstanceTexts[];
  readonly removed: readonly InstanceTexts[];
}

export function diffInstances(before: readonly InstanceTexts[], now: readonly InstanceTexts[]): InstanceDifference {
  const textsBefore = new Set(before.map((instance) => JSON.stringify(instance)));
  const textsNow = new Set(now.map((instance) => JSON.stringify(instance)));
  return {
    common: now.filter((instance) => textsBefore.has(JSON.stringify(instance))),
    added: now.filter((instance) => !textsBefore.has(JSON.stringify(instance))),
    removed: before.filter((instance) => !textsNow.has(JSON.stringify(instance))),
  };
}

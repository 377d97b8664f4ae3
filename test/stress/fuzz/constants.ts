/** Literals and parameters. */
import { quotedText } from '../../../packages/tidemark/src/sql.js';
import type { Choices } from './choices.js';
import { type Parameter, seq, type Tree } from './tree.js';
import { castName, type SqlType, typedLiteral } from './types.js';
import type { Site, World } from './world.js';

/** The part of a view's world that its parameters need. */
type Parameters = Pick<World, 'choices' | 'parameters'>;

export function literalOf({ world: { choices } }: Site, type: SqlType): Tree {
  if (choices.percent(4)) return `null::${castName(type)}`;
  const value = choices.pick(mostlyFew(choices, type.values));
  if (type.name === 'integer' && choices.percent(70)) return value.startsWith('-') ? `(${value})` : value;
  if (type.name === 'boolean' && choices.percent(70)) return value;
  // A literal whose type the context must determine.
  if (choices.percent(type.name === 'text' ? 50 : 4)) return quotedText(value);
  if (type.family === undefined && /^[a-z]+$/.test(type.name) && choices.percent(30)) {
    return `${type.name} ${quotedText(value)}`;
  }
  return choices.percent(20) ? `cast(${quotedText(value)} as ${castName(type)})` : typedLiteral(type, value);
}

/** A new parameter or one that the query already uses. Its type is written, or left to the context. */
export function parameterOf({ world }: { world: Parameters }, type: SqlType): Tree {
  const { choices, parameters } = world;
  const candidates = parameters.filter((other) => other.type === type);
  const isReused = candidates.length > 0 && choices.percent(50);
  const used = isReused ? choices.pick(candidates) : { type, parameter: newParameter(world, type) };
  if (!isReused) parameters.push(used);
  const isBare = choices.percent(isReused ? 60 : 40) && !isObject(used.parameter);
  const tree = isBare ? used.parameter : seq(used.parameter, `::${castName(type)}`);
  return seq('(', ...(isBare && type.name === 'integer' && choices.percent(15) ? ['-', tree] : [tree]), ')');
}

/** An object is refused where the context takes a text. */
function isObject({ values }: Parameter): boolean {
  return values.some((value) => Object.prototype.toString.call(value) === '[object Object]');
}

/** A parameter by itself, with nothing around it. */
export function barely({ world }: Site, type: SqlType): Tree {
  const candidates = world.parameters.filter((other) => other.type === type);
  if (candidates.length > 0 && world.choices.percent(50)) return world.choices.pick(candidates).parameter;
  const parameter = newParameter(world, type);
  world.parameters.push({ type, parameter });
  return parameter;
}

function newParameter({ choices, parameters }: Parameters, type: SqlType) {
  const values = type.bound ?? type.values;
  const value = () => (choices.percent(4) ? null : choices.pick(mostlyFew(choices, values)));
  const parameter = parameters.length;
  return { parameter, values: [value(), value(), values[parameter % Math.min(4, values.length)]] };
}

/** The values, but more often only the few that rows have. */
export function mostlyFew<T>(choices: Choices, values: readonly T[]): readonly T[] {
  return choices.percent(60) ? values.slice(0, 4) : values;
}

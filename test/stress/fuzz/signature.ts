/** Operators, functions and syntax by argument and result types: `integer: length(«text»)`. */

export interface Signature {
  /** The family of its result, or a variable. */
  readonly result: string;
  /** Text, and at odd indexes the families or variables of the arguments in between. */
  readonly pieces: readonly string[];
  readonly since: number;
  /** The reason why views must not use it. */
  readonly illegal?: string;
  /** The reason why its result may be nondeterministic. */
  readonly chance?: string;
}

/**
 * A variable has the same type throughout: `any`, `=` one with equality, `<` one with an order, `==` one whose equal
 * values are identical, `cased` one whose text is compared as texts are. `$` before a family makes it a parameter, `#1`
 * repeats the first argument. `16| ` at the beginning is the first version of Postgres that has it.
 */
export function signature(line: string, more: { illegal?: string; chance?: string } = {}): Signature {
  const [, since = '0', result, template] = /^(?:(\d+)\| )?(.+?): (.*)$/.exec(line)!;
  return { result: result!, pieces: template!.split(/[«»]/), since: Number(since), ...more };
}

export function signatures(lines: string): Signature[] {
  return lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => signature(line));
}

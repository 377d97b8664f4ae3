/** Operators, functions and syntax by what they take and give: `integer: length(«text»)`. */

export interface Signature {
  /** The family of its result, or a variable. */
  readonly result: string;
  /** Text, and at odd places the families, or variables, of what stands between. */
  readonly pieces: readonly string[];
  readonly since: number;
  /** Why no view may use it. */
  readonly illegal?: string;
  /** Why its result may be left to chance. */
  readonly chance?: string;
}

/**
 * Variables stand for one type throughout: `any`, `=` one with equality, `<` one with an order, `==` one whose equal
 * values are identical, `cased` one whose text is compared as texts are. `$` before a family is a parameter of it, `#1`
 * the first argument again. `16| ` before it all says since when.
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

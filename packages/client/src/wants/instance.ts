import type { ReadonlyJSON } from '../stores/types.js';

/** An instance of a view that has arguments: the view with the arguments that a client wants it for. */
export interface Want {
  readonly view: string;
  readonly args: ReadonlyJSON;
}

/** Returns a value as JSON, with the fields of each object in one order: equal values give equal texts. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/** Returns the text that identifies an instance. */
export function instanceText(view: string, args: unknown): string {
  return canonicalText([view, args]);
}

/** Returns the instance that a text identifies. */
export function wantOf(text: string): Want {
  const [view, args] = JSON.parse(text) as [string, ReadonlyJSON];
  return { view, args };
}

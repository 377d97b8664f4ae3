import type { ReadonlyJSON } from '../stores/types.js';

/** An instance of a view that has arguments: the view with the arguments that a client wants it for. */
export interface Want {
  readonly view: string;
  readonly args: ReadonlyJSON;
}

/** Returns the text that identifies an instance: JSON whose objects have sorted keys, so equal arguments give one text. */
export function instanceText(view: string, args: unknown): string {
  return JSON.stringify([view, args], (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(fields);
  });
}

/** Returns the instance that a text identifies. */
export function wantOf(text: string): Want {
  const [view, args] = JSON.parse(text) as [string, ReadonlyJSON];
  return { view, args };
}

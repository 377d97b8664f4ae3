/** What a request's headers prefer. Pure. */

/** One item of a header that lists what is accepted, and how much. */
interface Accepted {
  readonly range: string;
  readonly weight: number;
}

/**
 * Chooses a media type by `Accept`: the one with the highest weight, and of several the first. If none is accepted, the
 * first is sent anyway.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1
 */
export function preferredType<Type extends string>(header: string | null, offered: readonly [Type, ...Type[]]): Type {
  const accepted = (header ?? '*/*').split(',').map(readAccepted);
  const weightOf = (type: string) => {
    for (const range of [type, type.replace(/\/.*/, '/*'), '*/*']) {
      const found = accepted.find((item) => item.range === range);
      if (found) return found.weight;
    }
    return 0;
  };
  return offered.reduce((best, type) => (weightOf(type) > weightOf(best) ? type : best));
}

function readAccepted(item: string): Accepted {
  const [range = '', ...parameters] = item.toLowerCase().split(';');
  const weights = parameters.flatMap((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/.exec(parameter)?.[1] ?? []);
  return { range: range.trim(), weight: weights.length > 0 ? Number(weights[0]) || 0 : 1 };
}

/**
 * The value of a preference in `Prefer`, the first of several; undefined if there is none.
 * @see https://www.rfc-editor.org/rfc/rfc7240
 */
export function preferenceOf(headers: Headers, name: string): string | undefined {
  for (const preference of headers.get('Prefer')?.split(',') ?? []) {
    const [, given, value] = /^\s*([\w-]+)\s*(?:=\s*"?([^";]*?)"?\s*)?(?:;|$)/.exec(preference) ?? [];
    if (given?.toLowerCase() === name) return value ?? '';
  }
  return undefined;
}

/** An entity tag. */
export interface EntityTag {
  /** Its text as it was sent. */
  readonly text: string;
  /** What is between the quotes; `*` stands for itself. */
  readonly opaque: string;
}

/**
 * The entity tags in `If-None-Match`, or in an `ETag`. Whether a tag is weak makes no difference: `If-None-Match` compares
 * weakly.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2
 */
export function entityTagsIn(header: string | null): EntityTag[] {
  const found = (header ?? '').matchAll(/(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"|\*/g);
  return [...found].map(([text, opaque]) => ({ text, opaque: opaque ?? text }));
}

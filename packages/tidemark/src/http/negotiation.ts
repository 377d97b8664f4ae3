/** Reads the preferences in a request's headers. Pure. */

/** One item of an `Accept` header, with its weight. */
interface AcceptItem {
  readonly range: string;
  readonly weight: number;
}

/**
 * Chooses a media type by `Accept`: the first with the highest weight, or the first of all if none is accepted.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1
 */
export function preferredType<Type extends string>(header: string | null, offered: readonly [Type, ...Type[]]): Type {
  const items = (header ?? '*/*').split(',').map(parseAcceptItem);
  const weightOf = (type: string) => {
    for (const range of [type, type.replace(/\/.*/, '/*'), '*/*']) {
      const match = items.find((item) => item.range === range);
      if (match) return match.weight;
    }
    return 0;
  };
  return offered.reduce((best, type) => (weightOf(type) > weightOf(best) ? type : best));
}

function parseAcceptItem(item: string): AcceptItem {
  const [range = '', ...parameters] = item.toLowerCase().split(';');
  const weights = parameters.flatMap((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/.exec(parameter)?.[1] ?? []);
  return { range: range.trim(), weight: weights.length > 0 ? Number(weights[0]) || 0 : 1 };
}

/**
 * Returns the value of a preference in `Prefer`, the first of several; undefined if there is none.
 * @see https://www.rfc-editor.org/rfc/rfc7240
 */
export function preferenceOf(headers: Headers, name: string): string | undefined {
  for (const preference of headers.get('Prefer')?.split(',') ?? []) {
    const [, preferenceName, value] = /^\s*([\w-]+)\s*(?:=\s*"?([^";]*?)"?\s*)?(?:;|$)/.exec(preference) ?? [];
    if (preferenceName?.toLowerCase() === name) return value ?? '';
  }
  return undefined;
}

/** An entity tag. */
export interface EntityTag {
  /** The tag as sent. */
  readonly text: string;
  /** The text between the quotes; `*` for `*`. */
  readonly opaque: string;
}

/**
 * Returns the entity tags in an `If-None-Match` or `ETag` header. Weak and strong tags count the same, because
 * `If-None-Match` compares weakly.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2
 */
export function entityTagsIn(header: string | null): EntityTag[] {
  const matches = (header ?? '').matchAll(/(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"|\*/g);
  return [...matches].map(([text, opaque]) => ({ text, opaque: opaque ?? text }));
}

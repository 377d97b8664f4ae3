/** The wants of a client: the instances of views with arguments that it wants. */
import { field, isStorableText, type JSONObject, malformed } from './fields.js';

/** A want as a client sends it. The arguments have yet to be validated. */
export interface RequestedWant {
  readonly view: string;
  readonly args: JSONObject;
}

/** An instance of a view that a client wants. */
export interface Want {
  readonly view: string;
  /** The arguments, as the view's validator has returned them. */
  readonly args: unknown;
  /** The want as the client has sent it. */
  readonly requested: RequestedWant;
}

/** Why a want is not served. */
export type WantRefusalCode = 'unknown-view' | 'invalid-args' | 'too-many-wants';

/** A want that is not served, with the reason. */
export interface RefusedWant extends RequestedWant {
  readonly code: WantRefusalCode;
  readonly message: string;
}

/** The message about arguments that a validator accepts, but Postgres does not. */
export const unreadable =
  'Postgres cannot read an argument as a value of the type with which the view compares it. Send another value';

/** The message about arguments that give a view's query another text than those of another want do. */
export const otherText =
  'With these arguments, the query of the view has another text than with those of another instance, and one query reads all instances. Use arguments only as values in it';

/** A want that cannot be served because of its arguments, with the reason. */
export interface FailingWant {
  readonly want: Want;
  readonly message: string;
}

/**
 * Decodes the wants of a request.
 * @returns undefined if the request has none
 * @throws Problem `malformed-request`, naming the field.
 */
export function decodeWants(value: unknown): readonly RequestedWant[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw malformed('wants', 'an array');
  return value.map((want: unknown, i) => {
    const name = `wants[${i}]`;
    if (!isObject(want)) throw malformed(name, 'a JSON object');
    const view = field(want, 'view');
    const args = field(want, 'args');
    if (typeof view !== 'string' || !isStorableText(view)) throw malformed(`${name}.view`, 'the name of a view');
    if (!isObject(args)) throw malformed(`${name}.args`, 'a JSON object');
    return { view, args };
  });
}

function isObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

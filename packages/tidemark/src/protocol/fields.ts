import { Problem } from '../errors.js';

/** The maximum length of `clientGroupID`, `clientID` and `profileID`, in UTF-16 units. */
const maxIDLength = 256;

export type JSONObject = Readonly<Record<string, unknown>>;

/** True if Postgres can store the string unchanged: it has no lone surrogate and no U+0000. */
export function isStorableText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}

/** Returns a `malformed-request` Problem that names the field but does not repeat the value. */
export function malformed(field: string, expected: string): Problem {
  return new Problem('malformed-request', `${field} must be ${expected}`);
}

/** @throws Problem `malformed-request` if the value is not a JSON object. */
export function readObject(value: unknown, field: string): JSONObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(field, 'a JSON object');
  return value as JSONObject;
}

/** Reads only an object's own fields, because a request must not reach the members of `Object.prototype`. */
export function field(object: JSONObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * @param maxLength in UTF-16 units
 * @throws Problem `malformed-request` if the value is not a string or is too long, or if Postgres cannot store it.
 */
function readText(value: unknown, name: string, maxLength: number): string {
  if (typeof value !== 'string') throw malformed(name, 'a string');
  if (value.length > maxLength) throw malformed(name, `at most ${maxLength} characters long`);
  if (!isStorableText(value)) throw malformed(name, 'well-formed Unicode without U+0000');
  return value;
}

/** @throws Problem `malformed-request` if the value is not a non-empty text of at most `maxIDLength`. */
export function readID(value: unknown, name: string): string {
  const id = readText(value, name, maxIDLength);
  if (id === '') throw malformed(name, 'a non-empty string');
  return id;
}

/** @throws Problem `malformed-request` if the value is not a safe integer of at least `min`. */
export function readInteger(value: unknown, name: string, min: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < min) throw malformed(name, `an integer of at least ${min}`);
  return value as number;
}

/** @throws Problem `malformed-request` if the value is neither a boolean nor missing. */
export function readOptionalFlag(value: unknown, name: string): boolean | undefined {
  if (value !== undefined && typeof value !== 'boolean') throw malformed(name, 'true or false');
  return value;
}

/** The fields of every request of a sync client: the client group that sent it, and the inputs of the views. */
export interface Envelope extends Inputs {
  readonly clientGroupID: string;
}

/** The fields of a request that views can depend on. */
export interface Inputs {
  /** The ID of the browser profile. */
  readonly profileID: string;
  /** The schema that the client was built for. */
  readonly schemaVersion: string;
}

/** The maximum length of a `schemaVersion`, in UTF-16 units. */
const maxSchemaVersionLength = 1024;

/**
 * Reads and checks the envelope of a request.
 * @param get returns the value of a field of the request
 * @throws Problem `malformed-request`, naming the field.
 */
export function readEnvelope(get: (name: keyof Envelope) => unknown): Envelope {
  return { clientGroupID: readID(get('clientGroupID'), 'clientGroupID'), ...readInputs(get) };
}

/**
 * Reads and checks only the inputs of the views.
 * @param get returns the value of a field of the request
 * @throws Problem `malformed-request`, naming the field.
 */
export function readInputs(get: (name: keyof Inputs) => unknown): Inputs {
  return {
    profileID: readText(get('profileID'), 'profileID', maxIDLength),
    schemaVersion: readText(get('schemaVersion'), 'schemaVersion', maxSchemaVersionLength),
  };
}

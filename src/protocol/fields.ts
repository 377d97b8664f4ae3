import { Problem } from '../errors.js';

/** The longest identifier accepted, in UTF-16 units: `clientGroupID`, `clientID`, `profileID`. */
const MAX_ID_LENGTH = 256;

export type JSONObject = Readonly<Record<string, unknown>>;

/** Whether Postgres can store this string unchanged: it has no lone surrogate and no U+0000. */
export function isStorableText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}

/** A `malformed-request` Problem that names the field. It does not repeat the value. */
export function malformed(field: string, expected: string): Problem {
  return new Problem('malformed-request', `${field} must be ${expected}`);
}

/** @throws Problem `malformed-request` if the value is not a JSON object. */
export function readObject(value: unknown, field: string): JSONObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(field, 'a JSON object');
  return value as JSONObject;
}

/** Reads an object's own field only: a request must not reach the members of `Object.prototype`. */
export function field(object: JSONObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * @param maxLength in UTF-16 units
 * @throws Problem `malformed-request` if the value is not a string, is too long, or cannot be stored by Postgres.
 */
function readText(value: unknown, name: string, maxLength: number): string {
  if (typeof value !== 'string') throw malformed(name, 'a string');
  if (value.length > maxLength) throw malformed(name, `at most ${maxLength} characters long`);
  if (!isStorableText(value)) throw malformed(name, 'well-formed Unicode without U+0000');
  return value;
}

/** @throws Problem `malformed-request` if the value is not a non-empty text of at most `MAX_ID_LENGTH`. */
export function readID(value: unknown, name: string): string {
  const id = readText(value, name, MAX_ID_LENGTH);
  if (id === '') throw malformed(name, 'a non-empty string');
  return id;
}

/** @throws Problem `malformed-request` if the value is not a safe integer of at least `least`. */
export function readInteger(value: unknown, name: string, least: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    throw malformed(name, `an integer of at least ${least}`);
  return value as number;
}

/** @throws Problem `malformed-request` if the value is neither a boolean nor missing. */
export function readOptionalFlag(value: unknown, name: string): boolean | undefined {
  if (value !== undefined && typeof value !== 'boolean') throw malformed(name, 'true or false');
  return value;
}

/** What every request of a sync client says: which client group sent it, and the inputs of the views. */
export interface Envelope extends Inputs {
  readonly clientGroupID: string;
}

/** What a request says that views can depend on. */
export interface Inputs {
  /** The ID of the browser profile. */
  readonly profileID: string;
  /** The schema that the client was built for. */
  readonly schemaVersion: string;
}

/** The longest `schemaVersion` accepted, in UTF-16 units. */
const MAX_SCHEMA_VERSION_LENGTH = 1024;

/**
 * Reads and checks the envelope of a request.
 * @param get returns the value of a field of the request
 * @throws Problem `malformed-request`, naming the field.
 */
export function readEnvelope(get: (name: keyof Envelope) => unknown): Envelope {
  return { clientGroupID: readID(get('clientGroupID'), 'clientGroupID'), ...readInputs(get) };
}

/**
 * Reads and checks the inputs of the views alone.
 * @param get returns the value of a field of the request
 * @throws Problem `malformed-request`, naming the field.
 */
export function readInputs(get: (name: keyof Inputs) => unknown): Inputs {
  return {
    profileID: readText(get('profileID'), 'profileID', MAX_ID_LENGTH),
    schemaVersion: readText(get('schemaVersion'), 'schemaVersion', MAX_SCHEMA_VERSION_LENGTH),
  };
}

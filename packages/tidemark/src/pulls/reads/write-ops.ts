/** Writes ops from the lines of a COPY in the text format. */
import type { OpFormat } from '../../store/patches/full-patch.js';

const codeOf = (character: string) => character.charCodeAt(0);
const [tab, newline, space, quote, zero, letterN, backslash] = [0x09, 0x0a, 0x20, 0x22, 0x30, 0x4e, 0x5c];
const encoder = new TextEncoder();
const emptyBytes: Uint8Array = new Uint8Array();

/** The characters that COPY's escapes stand for, by the character after the backslash. Others stand for themselves. */
const copyEscapes = Uint8Array.from({ length: 256 }, (_, code) => code);
for (const [letter, character] of Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' })) {
  copyEscapes[codeOf(letter)] = codeOf(character);
}

/** JSON's escapes for the characters that a string must not contain literally. Postgres escapes the same characters. */
const jsonEscapes: readonly Uint8Array[] = Array.from({ length: 0x80 }, (_, code) =>
  encoder.encode(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
);

/** Flags for the bytes that cannot be copied unchanged into a string, or into JSON. */
const isSpecialInString = flags((code) => code === backslash || (jsonEscapes[code]?.length ?? 1) > 1);
const isSpecialInJSON = flags((code) => code === backslash || code === tab || code === newline);

function flags(isSet: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => Number(isSet(code)));
}

interface EncodedFormat {
  readonly fields: readonly Field[];
  readonly end: Uint8Array;
  /** Replaces a line break between tokens of JSON. */
  readonly lineBreak: number;
}

interface Field {
  readonly isString: boolean;
  /** The bytes before a value, with a string's opening quote; and the bytes in place of null and of those before it. */
  readonly before: Uint8Array;
  readonly beforeNull: Uint8Array;
  /** The maximum number of bytes by which the output exceeds the field, not counting escapes. */
  readonly overhead: number;
}

function encodeFormat({ fields, end, isOneLine }: OpFormat): EncodedFormat {
  const encodedFields = fields.map(({ before, isString, omitsNull }): Field => {
    const orNull = encoder.encode(`${before}null`);
    const overhead = orNull.length + 1 + end.length;
    const beforeNull = omitsNull ? emptyBytes : orNull;
    return { isString, before: encoder.encode(isString ? `${before}"` : before), beforeNull, overhead };
  });
  return { fields: encodedFields, end: encoder.encode(end), lineBreak: isOneLine ? space : newline };
}

/**
 * Turns lines into ops, in chunks that may begin and end anywhere. It copies byte by byte in a single loop, because
 * fields are short, and calls that copy or search several bytes take longer.
 */
export class OpWriter {
  readonly #formats: readonly EncodedFormat[];
  /** The last bytes of the previous chunk if they are incomplete without the next. */
  #rest = emptyBytes;
  /** The output buffer, which is reused for every chunk. */
  #buffer = emptyBytes;
  /** The format of the line's view; undefined at the beginning of a line. */
  #format: EncodedFormat | undefined;
  #field = 0;
  /** True if part of the field has been read. */
  #isOpen = false;
  /** True if the open field ends with a quote. */
  #isQuoted = false;

  constructor(ops: readonly OpFormat[]) {
    this.#formats = ops.map(encodeFormat);
  }

  /** Returns the ops, or parts of them, for the next bytes of the lines. */
  write(bytes: Uint8Array): Uint8Array {
    const input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const end = input.length;
    let length = 0;
    let at = 0;
    let format = this.#format;
    let field = this.#field;
    let out = ensureCapacity(this.#buffer, 0, end + (format?.fields[field]?.overhead ?? 0));
    let isOpen = this.#isOpen;
    let isQuoted = this.#isQuoted;
    while (at < end) {
      if (!format) {
        const stop = input.indexOf(tab, at);
        if (stop < 0) break;
        let index = 0;
        for (; at < stop; at++) index = 10 * index + input[at]! - zero;
        format = this.#formats[index]!;
        field = 0;
        at++;
        continue;
      }
      const current: Field | undefined = format.fields[field];
      if (!current) {
        // The remaining fields of the line belong to views with more fields.
        const stop = input.indexOf(newline, at);
        if (stop >= 0) format = undefined;
        at = stop < 0 ? end : stop + 1;
        continue;
      }
      const { isString } = current;
      if (!isOpen) {
        const mayBeNull = input[at] === backslash;
        if (mayBeNull && at + 1 === end) break;
        const isNull = mayBeNull && input[at + 1] === letterN;
        const before: Uint8Array = isNull ? current.beforeNull : current.before;
        out = ensureCapacity(out, length, end - at + current.overhead);
        for (let i = 0; i < before.length; i++) out[length++] = before[i]!;
        isOpen = true;
        isQuoted = isString && !isNull;
        if (isNull) at += 2;
      }
      const isSpecial = isString ? isSpecialInString : isSpecialInJSON;
      let byte = 0;
      for (; at < end; at++) {
        byte = input[at]!;
        if (isSpecial[byte] !== 0) break;
        out[length++] = byte;
      }
      if (at === end) break;
      if (byte === tab || byte === newline) {
        if (isQuoted) out[length++] = quote;
        isOpen = false;
        field++;
        at++;
        if (field === format.fields.length) {
          for (let i = 0; i < format.end.length; i++) out[length++] = format.end[i]!;
        }
        if (byte === newline) format = undefined;
        continue;
      }
      const isEscaped = byte === backslash;
      if (isEscaped && at + 1 === end) break;
      const character = isEscaped ? copyEscapes[input[at + 1]!]! : byte;
      at += isEscaped ? 2 : 1;
      if (isString) {
        const replacement: Uint8Array = jsonEscapes[character]!;
        out = ensureCapacity(out, length, end - at + replacement.length + current.overhead);
        for (let i = 0; i < replacement.length; i++) out[length++] = replacement[i]!;
      } else out[length++] = character === newline ? format.lineBreak : character;
    }
    this.#format = format;
    this.#field = field;
    this.#isOpen = isOpen;
    this.#isQuoted = isQuoted;
    this.#rest = input.subarray(at);
    this.#buffer = out;
    return Buffer.from(out.subarray(0, length));
  }
}

/** Returns a buffer with the output so far, and with capacity for more bytes. */
function ensureCapacity(out: Uint8Array, length: number, more: number): Uint8Array {
  if (length + more <= out.length) return out;
  const larger = Buffer.allocUnsafeSlow(2 * (length + more));
  larger.set(out.subarray(0, length));
  return larger;
}

/** Returns the first field of a line, as text. */
export function firstField(line: string): string {
  const [field = ''] = line.split('\t');
  return field.replace(/\\(.)/gs, (_, letter: string) =>
    String.fromCharCode(copyEscapes[codeOf(letter)] ?? codeOf(letter)),
  );
}

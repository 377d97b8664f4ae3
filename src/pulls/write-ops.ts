/** Writes ops from the lines of a COPY in the text format. */
import type { OpForm } from '../store/patches/full-patch.js';

const codeOf = (character: string) => character.charCodeAt(0);
const [tab, newline, space, quote, zero, letterN, backslash] = [0x09, 0x0a, 0x20, 0x22, 0x30, 0x4e, 0x5c];
const encoder = new TextEncoder();
const nothing: Uint8Array = new Uint8Array();

/** What the format's escapes stand for, by the character after the backslash. Others stand for that character. */
const escaped = Uint8Array.from({ length: 256 }, (_, code) => code);
for (const [letter, character] of Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' })) {
  escaped[codeOf(letter)] = codeOf(character);
}

/** How JSON writes the characters that must not stand in a string as they are. Postgres escapes the same ones. */
const escapes: readonly Uint8Array[] = Array.from({ length: 0x80 }, (_, code) =>
  encoder.encode(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
);

/** Which bytes cannot be copied as they are: into a string, and into JSON. */
const isSpecialInString = flags((code) => code === backslash || (escapes[code]?.length ?? 1) > 1);
const isSpecialInJSON = flags((code) => code === backslash || code === tab || code === newline);

function flags(isSet: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => Number(isSet(code)));
}

interface Form {
  readonly fields: readonly Field[];
  readonly end: Uint8Array;
  /** What is written for a line break between the tokens of JSON. */
  readonly lineBreak: number;
}

interface Field {
  readonly isString: boolean;
  /** What precedes a value, with a string's quote; and what stands in place of null and what precedes it. */
  readonly before: Uint8Array;
  readonly beforeNull: Uint8Array;
  /** How much longer the output can be than the field, except for escapes. */
  readonly around: number;
}

function toForm({ fields, end, isOneLine }: OpForm): Form {
  const encoded = fields.map(({ before, isString, omitsNull }): Field => {
    const orNull = encoder.encode(`${before}null`);
    const around = orNull.length + 1 + end.length;
    const beforeNull = omitsNull ? nothing : orNull;
    return { isString, before: encoder.encode(isString ? `${before}"` : before), beforeNull, around };
  });
  return { fields: encoded, end: encoder.encode(end), lineBreak: isOneLine ? space : newline };
}

/**
 * Turns lines into ops, in pieces that may begin and end anywhere. It copies byte by byte, in a single loop: fields are
 * short, and calls that copy or search many bytes at once take longer.
 */
export class OpWriter {
  readonly #forms: readonly Form[];
  /** The last bytes of the previous piece, if they mean nothing without the next. */
  #rest = nothing;
  /** Where pieces are written. */
  #room = nothing;
  /** That of the line's view; undefined at the beginning of a line. */
  #form: Form | undefined;
  #field = 0;
  /** A part of the field has been read. */
  #isOpen = false;
  /** The open field ends with a quote. */
  #isQuoted = false;

  constructor(ops: readonly OpForm[]) {
    this.#forms = ops.map(toForm);
  }

  /** What the next bytes of the lines add to the ops. */
  write(bytes: Uint8Array): Uint8Array {
    const source = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const end = source.length;
    let length = 0;
    let at = 0;
    let form = this.#form;
    let field = this.#field;
    let out = withRoom(this.#room, 0, end + (form?.fields[field]?.around ?? 0));
    let isOpen = this.#isOpen;
    let isQuoted = this.#isQuoted;
    while (at < end) {
      if (!form) {
        const stop = source.indexOf(tab, at);
        if (stop < 0) break;
        let index = 0;
        for (; at < stop; at++) index = 10 * index + source[at]! - zero;
        form = this.#forms[index]!;
        field = 0;
        at++;
        continue;
      }
      const current: Field | undefined = form.fields[field];
      if (!current) {
        // What follows are the fields that only other views have.
        const stop = source.indexOf(newline, at);
        if (stop >= 0) form = undefined;
        at = stop < 0 ? end : stop + 1;
        continue;
      }
      const { isString } = current;
      if (!isOpen) {
        const mayBeNull = source[at] === backslash;
        if (mayBeNull && at + 1 === end) break;
        const isNull = mayBeNull && source[at + 1] === letterN;
        const before: Uint8Array = isNull ? current.beforeNull : current.before;
        out = withRoom(out, length, end - at + current.around);
        for (let i = 0; i < before.length; i++) out[length++] = before[i]!;
        isOpen = true;
        isQuoted = isString && !isNull;
        if (isNull) at += 2;
      }
      const isSpecial = isString ? isSpecialInString : isSpecialInJSON;
      let byte = 0;
      for (; at < end; at++) {
        byte = source[at]!;
        if (isSpecial[byte] !== 0) break;
        out[length++] = byte;
      }
      if (at === end) break;
      if (byte === tab || byte === newline) {
        if (isQuoted) out[length++] = quote;
        isOpen = false;
        field++;
        at++;
        if (field === form.fields.length) {
          for (let i = 0; i < form.end.length; i++) out[length++] = form.end[i]!;
        }
        if (byte === newline) form = undefined;
        continue;
      }
      const isEscaped = byte === backslash;
      if (isEscaped && at + 1 === end) break;
      const character = isEscaped ? escaped[source[at + 1]!]! : byte;
      at += isEscaped ? 2 : 1;
      if (isString) {
        const replaced: Uint8Array = escapes[character]!;
        out = withRoom(out, length, end - at + replaced.length + current.around);
        for (let i = 0; i < replaced.length; i++) out[length++] = replaced[i]!;
      } else out[length++] = character === newline ? form.lineBreak : character;
    }
    this.#form = form;
    this.#field = field;
    this.#isOpen = isOpen;
    this.#isQuoted = isQuoted;
    this.#rest = source.subarray(at);
    this.#room = out;
    return Buffer.from(out.subarray(0, length));
  }
}

/** The output so far, with room for so many bytes more. */
function withRoom(out: Uint8Array, length: number, more: number): Uint8Array {
  if (length + more <= out.length) return out;
  const larger = Buffer.allocUnsafeSlow(2 * (length + more));
  larger.set(out.subarray(0, length));
  return larger;
}

/** The first field of a line, as text. */
export function firstField(line: string): string {
  const [field = ''] = line.split('\t');
  return field.replace(/\\(.)/gs, (_, letter: string) =>
    String.fromCharCode(escaped[codeOf(letter)] ?? codeOf(letter)),
  );
}

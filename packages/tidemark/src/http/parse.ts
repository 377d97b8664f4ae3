/** Parses JSON. Errors never repeat the text. */
import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Tokenizer, TokenParser, TokenType } from '@streamparser/json';
import { Problem } from '../errors.js';
import { findInexactNumber, isCarriedByDouble } from '../protocol/json.js';

/** Options for parsing JSON. */
export interface ParseOptions {
  /** Refuses numbers that a double cannot represent, instead of changing them silently. Default false. */
  readonly exactNumbers?: boolean | undefined;
}

/** Longer bodies are parsed in steps of this length, in bytes, so that other requests run in between. */
const stepLength = 16 * 1024;

/** The maximum number of arrays and objects in a body. In memory, each takes about fifty times the bytes of `[]`. */
const maxContainers = 200_000;
const opening: readonly TokenType[] = [TokenType.LEFT_BRACE, TokenType.LEFT_BRACKET];

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses the UTF-8 bytes of a body.
 * @throws Problem `malformed-request`, or `body-too-large` if there are too many values
 */
export async function parse(bytes: Uint8Array, options?: ParseOptions): Promise<unknown> {
  if (bytes.byteLength <= stepLength) return parseText(decodeText(bytes), options);
  await step();
  if (!isUtf8(bytes)) throw notUTF8();
  return parseInSteps(bytes, options);
}

let lastStep: Promise<unknown> = Promise.resolve();

/** Waits for a tick of the event loop in which no other step runs, however many bodies are being parsed. */
function step(): Promise<unknown> {
  lastStep = lastStep.then(() => nextTurn());
  return lastStep;
}

/**
 * Decodes UTF-8, the encoding of all JSON.
 * @throws Problem `malformed-request`
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw notUTF8();
  }
}

/**
 * Parses a short text in one go.
 * @throws Problem `malformed-request`
 */
export function parseText(text: string, { exactNumbers = false }: ParseOptions = {}): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJSON();
  }
  const offset = exactNumbers ? findInexactNumber(text) : undefined;
  if (offset !== undefined) throw inexact(`The number at offset ${offset}`);
  return value;
}

/** Parses a long text in steps, so that other requests can run in between. */
async function parseInSteps(bytes: Uint8Array, { exactNumbers = false }: ParseOptions = {}): Promise<unknown> {
  let value: unknown;
  const parser = new TokenParser({ paths: ['$'] });
  parser.onValue = (parsed) => {
    value = parsed.value;
  };
  const tokenizer = exactNumbers ? new ExactTokenizer() : new TextTokenizer();
  let containers = 0;
  tokenizer.onToken = (token) => {
    if (opening.includes(token.token) && ++containers > maxContainers) {
      throw new Problem('body-too-large', `The body must not have more than ${maxContainers} arrays and objects`);
    }
    parser.write(token);
  };
  try {
    for (let at = 0; at < bytes.byteLength; at += stepLength) {
      tokenizer.write(bytes.subarray(at, at + stepLength));
      await step();
    }
    if (!tokenizer.isEnded) tokenizer.end();
    if (!parser.isEnded) parser.end();
  } catch (error) {
    throw error instanceof Problem ? error : notJSON();
  }
  // Blank text has no value.
  if (value === undefined) throw notJSON();
  return value;
}

/** Keeps byte order marks in strings and keys, which `Tokenizer` drops. */
class TextTokenizer extends Tokenizer {
  constructor() {
    super();
    const { bufferedString } = this as unknown as { bufferedString: object };
    Object.assign(bufferedString, { decoder: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }) });
  }
}

class ExactTokenizer extends TextTokenizer {
  override parseNumber(token: string): number {
    if (!isCarriedByDouble(token)) throw inexact('A number');
    return Number(token);
  }
}

function notUTF8(): Problem {
  return new Problem('malformed-request', 'The body is not valid UTF-8');
}

function notJSON(): Problem {
  return new Problem('malformed-request', 'The body is not valid JSON');
}

function inexact(which: string): Problem {
  return new Problem('malformed-request', `${which} has digits that a double cannot hold; send it as a string`);
}

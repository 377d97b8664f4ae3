/** Calls a mutator on a running server. */
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Terminal, UsageError } from '../terminal.js';
import { exitCodeOf, failure, harmless, objectIn, reasonOf, refusalOf, success, temporaryFailure } from './answers.js';
import { type CallOptions, readCallLine } from './call-line.js';

/**
 * Prints the answer as one line of JSON; on failure, the reason to standard error.
 * @returns the exit code
 */
export async function callCommand(
  { input, print, say }: Terminal,
  name: string,
  json: string | undefined,
  options: CallOptions,
): Promise<number> {
  const { url, args, headers, timeoutSeconds } = readCallLine(name, json, options);
  const body = args === '-' ? await textOf(input) : args;
  if (body !== undefined) requireJSON(body);
  const end = (exitCode: number, ...lines: readonly string[]): number => {
    for (const line of lines) say(harmless(line));
    return exitCode;
  };
  const signal = AbortSignal.timeout(timeoutSeconds * 1000);
  let response: Response;
  let text: string;
  try {
    // A followed redirect could turn the POST into a GET.
    response = await fetch(url, { method: 'POST', headers, body: body ?? null, redirect: 'manual', signal });
    text = await response.text();
  } catch (error) {
    const silent = `No answer from ${url.origin} within ${timeoutSeconds} s; the call may still have been applied.`;
    return end(temporaryFailure, signal.aborted ? silent : `Cannot reach ${url.origin}: ${reasonOf(error)}.`);
  }
  const answer = objectIn(text);
  if (!response.ok) return end(exitCodeOf(response.status, answer), ...refusalOf(response, answer));
  if (answer?.ok !== true) return end(failure, `${url.href} did not answer like a mutator.`);
  // Printed as received, because parsing would round large numbers. Raw line breaks never occur inside JSON strings.
  print(`${text.trim().replace(/\s*[\r\n]\s*/g, ' ')}\n`);
  return success;
}

async function textOf(input: Readable): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await buffer(input));
  } catch (cause) {
    throw new UsageError('Standard input is not UTF-8 text', { cause });
  }
}

/** @throws UsageError if the text is not JSON. Omits the parser's message, which could quote a secret. */
function requireJSON(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new UsageError('The args are not JSON');
  }
}

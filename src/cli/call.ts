/** Calls a mutator on a running server. */
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type CallOptions, readCallLine } from './call-line.js';
import { type Terminal, UsageError } from './terminal.js';

/** The exit codes; 2 is for a wrong command line. */
const done = 0;
const failed = 1;
const mayPass = 3;

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
    // What a server sends must not be able to control the terminal.
    for (const line of lines) say(line.replace(/\p{Cc}+/gu, ' '));
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
    return end(mayPass, signal.aborted ? silent : `Cannot reach ${url.origin}: ${reasonOf(error)}.`);
  }
  const answer = objectIn(text);
  if (!response.ok) return end(exitCodeOf(response.status, answer), ...refusalOf(response, answer));
  if (answer?.ok !== true) return end(failed, `${url.href} did not answer like a mutator.`);
  // Printed as received: parsing would round large numbers. Strings in JSON hold no raw line breaks to lose.
  print(`${text.trim().replace(/\s*[\r\n]\s*/g, ' ')}\n`);
  return done;
}

async function textOf(input: Readable): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await buffer(input));
  } catch (cause) {
    throw new UsageError('Standard input is not UTF-8 text', { cause });
  }
}

/** @throws UsageError if the text is not JSON. Leaves out the parser's message, which would quote a possible secret. */
function requireJSON(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new UsageError('The args are not JSON');
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>> | undefined;

function exitCodeOf(status: number, answer: Fields): number {
  if (status === 409) return answer?.code === 'idempotency-key-in-flight' ? mayPass : failed;
  return [429, 502, 503, 504].includes(status) ? mayPass : failed;
}

/** Why the call was refused: a summary, then a line for each issue, then one for the mutator's details. */
function refusalOf({ status }: Response, answer: Fields): string[] {
  const { detail, code, requestID, issues, details } = answer ?? {};
  if (typeof detail !== 'string') return [`The server answered with status ${status} and gave no reason.`];
  const facts = [status, code, status >= 500 && typeof requestID === 'string' && `request ${requestID}`];
  const lines = Array.isArray(issues) ? issues.map(describeIssue) : [];
  const more = details === undefined ? [] : [`details: ${JSON.stringify(details)}`];
  return [`${detail} (${facts.filter(Boolean).join(', ')})`, ...lines, ...more];
}

function describeIssue(issue: unknown): string {
  const { path, message } = { ...(issue as { path?: unknown; message?: unknown }) };
  const where = Array.isArray(path) ? path.map(String).join('.') : String(path ?? '');
  return where === '' ? String(message) : `${where}: ${message}`;
}

/** The reason is in the cause of fetch's error; for a host with several addresses, in a list of errors. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const parts: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return parts.map((part) => (part instanceof Error ? part.message : String(part))).join('; ');
}

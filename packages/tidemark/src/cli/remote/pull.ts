/** Reads a view of a running server, or one of its rows, and follows its changes. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Terminal, UsageError } from '../terminal.js';
import { exitCodeOf, harmless, objectIn, reasonOf, refusalOf, success, temporaryFailure } from './answers.js';
import { readEvents } from './events.js';
import { authorization, type ServerOptions, secondsOf, serverURL } from './server-line.js';
import { viewArgsIn } from './view-args.js';

/** The options of `tidemark pull`, as given on the command line. */
export interface PullOptions extends ServerOptions {
  /** The view's arguments, each as `name=value`. */
  readonly arg?: readonly string[];
  readonly since?: string;
  readonly follow?: boolean;
}

/** Milliseconds of silence after which a stream counts as dead. The server sends something every 15 seconds. */
const silenceMs = 40_000;
const maxRetryMs = 30_000;

/**
 * Prints the rows, one per line. With `since` or `follow`, prints the changes instead, one line for each patch. On
 * failure, prints the reason to standard error.
 * @returns the exit code; with `follow`, only if the server refuses or the first connection fails
 */
export async function pullCommand(
  terminal: Terminal,
  view: string,
  key: string | undefined,
  options: PullOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  if (view === '') throw new UsageError('The view must have a name, such as todo');
  const url = serverURL(options, ['views', view, ...(key === undefined ? [] : [key])], env);
  const args = viewArgsIn(options.arg ?? []);
  for (const [name, value] of args) url.searchParams.append(name, value);
  // Otherwise, the server would ignore an argument that is misspelled.
  const headers = { ...authorization(options, env), ...(args.length > 0 && { Prefer: 'handling=strict' }) };
  const timeoutMs = secondsOf(options) * 1000;
  if (options.since !== undefined) url.searchParams.set('since', options.since);
  const request = { url, headers, timeoutMs };
  if (options.follow) return follow(terminal, request);
  const accept = options.since === undefined ? 'application/x-ndjson' : 'application/json';
  return readOnce(terminal, { ...request, headers: { ...headers, Accept: accept } });
}

interface ViewRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

async function readOnce({ print, say }: Terminal, { url, headers, timeoutMs }: ViewRequest): Promise<number> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    if (!response.ok) return await refuse(say, response);
    let last = '';
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      print(text);
      last = text;
    }
    if (last !== '' && !last.endsWith('\n')) print('\n');
    return success;
  } catch (error) {
    const silent = `No answer from ${url.origin} within ${timeoutMs / 1000} s.`;
    say(harmless(signal.aborted ? silent : `Cannot reach ${url.origin}: ${reasonOf(error)}.`));
    return temporaryFailure;
  }
}

/** Prints changes as they arrive. Reconnects when the connection is lost, or the server is busy. */
async function follow({ print, say }: Terminal, { url, headers, timeoutMs }: ViewRequest): Promise<number> {
  let lastID: string | undefined;
  let retryMs = 1_000;
  let hasConnected = false;
  for (let waitMs = retryMs; ; waitMs = Math.min(2 * waitMs, maxRetryMs)) {
    const silence = new AbortController();
    let alarm = setTimeout(() => silence.abort(), timeoutMs);
    try {
      const resumed = lastID === undefined ? {} : { 'Last-Event-ID': lastID };
      const response = await fetch(url, {
        headers: { ...headers, ...resumed, Accept: 'text/event-stream' },
        redirect: 'manual',
        signal: silence.signal,
      });
      if (!response.ok) {
        const { status } = response;
        if (!hasConnected || exitCodeOf(status, undefined) !== temporaryFailure) return await refuse(say, response);
      } else {
        hasConnected = true;
        const onBytes = () => {
          clearTimeout(alarm);
          alarm = setTimeout(() => silence.abort(), silenceMs);
        };
        for await (const { retry, id, data } of readEvents(response.body!, onBytes)) {
          if (retry !== undefined) retryMs = retry;
          if (id === undefined || data === undefined) continue;
          lastID = id;
          print(`{"cookie":${JSON.stringify(id)},"patch":${data.replaceAll('\n', ' ')}}\n`);
        }
        waitMs = retryMs / 2;
      }
    } catch (error) {
      if (!hasConnected) {
        say(harmless(`Cannot reach ${url.origin}: ${reasonOf(error)}.`));
        return temporaryFailure;
      }
    } finally {
      clearTimeout(alarm);
    }
    await pause(waitMs * (0.5 + Math.random()));
  }
}

async function refuse(say: Terminal['say'], response: Response): Promise<number> {
  const answer = objectIn(await response.text());
  const advice = answer?.code === 'invalid-args' ? ['Pass each argument of the view as --arg name=value.'] : [];
  for (const line of [...refusalOf(response, answer), ...advice]) say(harmless(line));
  return exitCodeOf(response.status, answer);
}

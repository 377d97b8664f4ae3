/** An app whose poke endpoint has listeners that a test can count and poke. */
import { onTestFinished } from 'vitest';
import type { UserContext } from '../../../src/context.js';
import { PokeStreams } from '../../../src/endpoints/listening/poke-streams.js';
import { streamBudget } from '../../../src/limits/request-limits.js';
import type { Listening } from '../../../src/protocol/poke.js';
import { setUp } from './requests.js';

export interface ListenerOptions {
  readonly limit?: number;
  readonly perUser?: number;
  readonly user?: UserContext | null;
  /** Awaited by whoever listens. */
  readonly before?: () => Promise<void>;
}

export function setUpPokes({
  limit = 10,
  perUser = limit,
  user = { userID: 'u' },
  before = async () => {},
}: ListenerOptions = {}) {
  const listeners = new Set<() => void>();
  const asked: { ctx: UserContext; request: Listening }[] = [];
  const pokes = new PokeStreams<UserContext>(
    async (ctx, request, poke) => {
      await before();
      asked.push({ ctx, request });
      listeners.add(poke);
      return () => void listeners.delete(poke);
    },
    streamBudget({ maxStreams: limit, maxStreamsPerUser: perUser }),
    60_000,
  );
  onTestFinished(() => pokes.close());
  const { send, lines, app } = setUp({ pokes, authenticate: () => user });
  return {
    app,
    pokes,
    asked,
    listeners,
    lines,
    send,
    open: (query = 'clientGroupID=g&profileID=p', init: RequestInit = {}) => send(`/sync/poke?${query}`, init),
    poke() {
      for (const listener of listeners) listener();
    },
    /** How the streams ended, as the log says. */
    ends: () => lines.filter(({ message }) => message === 'Request').map(({ fields }) => fields.outcome ?? fields.code),
  };
}

/** Reads a stream's text as it comes. */
export function readText(response: Response) {
  const reader = response.body!.getReader();
  const next = async () => {
    const { value, done } = await reader.read();
    return done ? null : Buffer.from(value).toString();
  };
  return { next, cancel: () => reader.cancel() };
}

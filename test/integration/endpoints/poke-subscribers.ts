/** An app whose poke endpoint has subscribers that a test can count and poke. */
import { onTestFinished } from 'vitest';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { WantChecker } from '../../../packages/tidemark/src/endpoints/pulls/want-checker.js';
import { PokeStreams } from '../../../packages/tidemark/src/endpoints/subscriptions/poke-streams.js';
import { Admission } from '../../../packages/tidemark/src/limits/admission.js';
import type { SubscribeRequest } from '../../../packages/tidemark/src/protocol/poke.js';
import { setUp } from './requests.js';

export interface SubscriberOptions {
  readonly limit?: number;
  readonly perUser?: number;
  readonly user?: UserContext | null;
  /** Awaited before each subscription. */
  readonly before?: () => Promise<void>;
}

export function setUpPokes({
  limit = 10,
  perUser = limit,
  user = { userID: 'u' },
  before = async () => {},
}: SubscriberOptions = {}) {
  const subscribers = new Set<() => void>();
  const requests: { ctx: UserContext; request: SubscribeRequest }[] = [];
  const pokes = new PokeStreams<UserContext>({
    replicaRouter: {
      async subscribe(ctx, request, poke) {
        await before();
        requests.push({ ctx, request });
        subscribers.add(poke);
        return () => void subscribers.delete(poke);
      },
    },
    admission: new Admission({ streams: { maxStreams: limit, maxStreamsPerUser: perUser } }),
    wantChecker: new WantChecker({}, 0),
    authenticateMs: 60_000,
  });
  onTestFinished(() => pokes.close());
  const { send, lines, app } = setUp({ pokes, authenticate: () => user });
  return {
    app,
    pokes,
    requests,
    subscribers,
    lines,
    send,
    open: (query = 'clientGroupID=g&profileID=p', init: RequestInit = {}) => send(`/sync/poke?${query}`, init),
    poke() {
      for (const poke of subscribers) poke();
    },
    /** The outcomes of the streams, from the log. */
    ends: () => lines.filter(({ message }) => message === 'Request').map(({ fields }) => fields.outcome ?? fields.code),
  };
}

/** Reads a stream's text as it arrives. */
export function readText(response: Response) {
  const reader = response.body!.getReader();
  const next = async () => {
    const { value, done } = await reader.read();
    return done ? null : Buffer.from(value).toString();
  };
  return { next, cancel: () => reader.cancel() };
}

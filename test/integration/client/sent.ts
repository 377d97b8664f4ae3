import type { MockInstance } from 'vitest';

/** The bodies of the requests to an endpoint that a spy on `fetch` has seen. */
export function bodiesSentTo(endpoint: 'pull' | 'push', fetching: MockInstance<typeof fetch>): string[] {
  return fetching.mock.calls.flatMap(([url, init]) =>
    String(url).endsWith(`/sync/${endpoint}`) ? [String(init!.body)] : [],
  );
}

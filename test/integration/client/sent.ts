import type { MockInstance } from 'vitest';

/** The bodies of the requests to an endpoint, as recorded by a spy on `fetch`. */
export function bodiesSentTo(endpoint: 'pull' | 'push', fetching: MockInstance<typeof fetch>): string[] {
  return fetching.mock.calls.flatMap(([url, init]) =>
    String(url).endsWith(`/sync/${endpoint}`) ? [String(init!.body)] : [],
  );
}

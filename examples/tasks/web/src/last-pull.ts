import type { PullRequest, PullResponse } from 'replicache';

export interface LastPull {
  readonly kind: 'no change' | 'delta' | 'reset' | 'first pull';
  readonly ops: number;
  readonly ms: number;
}

/** Describes what a pull brought; undefined if there was no patch. */
export function describePull(
  { cookie }: Pick<PullRequest, 'cookie'>,
  response: PullResponse | undefined,
  ms: number,
): LastPull | undefined {
  if (!response || 'error' in response) return undefined;
  const { patch } = response;
  const change = patch[0]?.op === 'clear' ? 'reset' : patch.length > 0 ? 'delta' : 'no change';
  return { kind: cookie === null ? 'first pull' : change, ops: patch.length, ms };
}

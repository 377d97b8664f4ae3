import { hash } from 'node:crypto';

/**
 * Assigns a key to one of several candidates, always to the same one as long as it is among them. If another candidate
 * is added or removed, only the keys assigned to that one move.
 * @see "A name-based mapping scheme for rendezvous", Thaler and Ravishankar, 1996
 */
export function assign<T extends { readonly name: string }>(key: string, candidates: readonly T[]): T | undefined {
  if (candidates.length < 2) return candidates[0];
  const weigh = ({ name }: T) => hash('sha1', JSON.stringify([name, key]), 'hex');
  const weights = candidates.map((one) => ({ one, weight: weigh(one) }));
  return weights.reduce((best, next) => (next.weight > best.weight ? next : best)).one;
}

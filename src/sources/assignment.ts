import { hash } from 'node:crypto';

/**
 * The one of several to which a key belongs: always the same one for a key, as long as it is among them. If another one
 * comes or goes, only the keys that it has or had belong elsewhere.
 * @see "A name-based mapping scheme for rendezvous", Thaler and Ravishankar, 1996
 */
export function assigned<T extends { readonly name: string }>(key: string, among: readonly T[]): T | undefined {
  if (among.length < 2) return among[0];
  const weigh = ({ name }: T) => hash('sha1', JSON.stringify([name, key]), 'hex');
  const weighed = among.map((one) => ({ one, weight: weigh(one) }));
  return weighed.reduce((best, next) => (next.weight > best.weight ? next : best)).one;
}

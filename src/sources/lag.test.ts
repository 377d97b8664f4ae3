import { expect, it } from 'vitest';
import { Marks } from './lag.js';

function marks(...known: readonly (readonly [at: number, position: bigint])[]): Marks {
  const all = new Marks();
  for (const [at, position] of known) all.add(at, position);
  return all;
}

it('a standby that has replayed all that is known does not lag', () => {
  expect(marks([0, 10n], [1000, 20n]).lagMs(20n, 5000)).toBe(0);
  expect(marks([0, 10n], [1000, 20n]).lagMs(25n, 5000)).toBe(0);
  expect(marks().lagMs(0n, 5000)).toBe(0);
});

it('it lags since the first that it has not replayed', () => {
  const known = marks([0, 10n], [1000, 20n], [2000, 30n]);
  expect(known.lagMs(10n, 2500)).toBe(1500);
  expect(known.lagMs(29n, 2500)).toBe(500);
  expect(known.lagMs(0n, 2500)).toBe(2500);
});

it('if nothing is written, a standby does not lag more and more', () => {
  expect(marks([0, 10n], [1000, 10n], [2000, 10n]).lagMs(10n, 9000)).toBe(0);
});

it('what was lost in a failover is not waited for', () => {
  expect(marks([0, 10n], [1000, 90n], [2000, 20n]).lagMs(20n, 9000)).toBe(0);
});

it('positions are forgotten after a minute, but a standby that has not reached the oldest lags that much', () => {
  const known = marks(...Array.from({ length: 200 }, (_, i): [number, bigint] => [i * 1000, BigInt(i)]));
  expect(known.lagMs(0n, 199_000)).toBeGreaterThan(50_000);
});

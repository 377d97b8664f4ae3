import { expect, it } from 'vitest';
import { Problem, SetupError } from '../errors.js';
import { BackOff } from './back-off.js';

const failure = new Error('The database is away');

it('allows a first attempt immediately', () => {
  const backOff = new BackOff();
  expect([backOff.waitMs(0), backOff.refusal(0), backOff.isFailing]).toEqual([0, undefined, false]);
});

it('doubles the pause after each failure, up to half a minute', () => {
  const backOff = new BackOff();
  const pauses = Array.from({ length: 8 }, (_, i) => {
    backOff.fail(i * 60_000, failure);
    return backOff.waitMs(i * 60_000);
  });
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

it('refuses attempts during a pause with the remaining time, and allows them afterwards', () => {
  const backOff = new BackOff();
  for (const now of [0, 100]) backOff.fail(now, failure);
  expect([100, 600, 2_099, 2_100, 5_000].map((now) => backOff.waitMs(now))).toEqual([2_000, 1_500, 1, 0, 0]);
  expect(backOff.refusal(600)).toMatchObject({
    code: 'unavailable',
    headers: { 'Retry-After': '2' },
    extensions: { degraded: ['database'] },
  });
  expect(backOff.refusal(2_100)).toBeUndefined();
  expect(backOff.isFailing).toBe(true);
});

it('starts again with a short pause after a success', () => {
  const backOff = new BackOff();
  for (const now of [0, 1, 2]) backOff.fail(now, failure);
  backOff.succeed();
  expect([backOff.waitMs(3), backOff.isFailing]).toEqual([0, false]);
  backOff.fail(3, failure);
  expect(backOff.waitMs(3)).toBe(1_000);
});

it('passes on a refusal by the application, and does not count it as a failure', () => {
  const backOff = new BackOff();
  for (const now of [0, 0, 0]) backOff.fail(now, new Problem('forbidden', 'This tenant has not paid'));
  expect(backOff.refusal(0)).toMatchObject({ status: 403, message: 'This tenant has not paid', headers: {} });
  expect([backOff.waitMs(0), backOff.isFailing]).toEqual([5_000, false]);
  backOff.fail(0, failure);
  expect(backOff.waitMs(0)).toBe(1_000);
});

it('does not reveal the reason to callers', () => {
  const backOff = new BackOff();
  backOff.fail(0, new SetupError('Run the migration of acme'));
  const { message, extensions } = backOff.refusal(0)!;
  expect(message).toBe('This tenant is not set up correctly; the log of the server says why');
  expect(extensions).toEqual({ degraded: ['setup'] });
});

import { expect, it } from 'vitest';
import { Problem, SetupError } from '../errors.js';
import { Attempts } from './attempts.js';

const failure = new Error('The database is away');

it('may be tried at once before anything has failed', () => {
  const attempts = new Attempts();
  expect([attempts.waitMs(0), attempts.refusal(0), attempts.isFailing]).toEqual([0, undefined, false]);
});

it('is tried ever more rarely while it fails, and at least every half minute', () => {
  const attempts = new Attempts();
  const pauses = Array.from({ length: 8 }, (_, i) => {
    attempts.fail(i * 60_000, failure);
    return attempts.waitMs(i * 60_000);
  });
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

it('may be tried when the pause is over, and tells those who ask before how long that takes', () => {
  const attempts = new Attempts();
  for (const now of [0, 100]) attempts.fail(now, failure);
  expect([100, 600, 2_099, 2_100, 5_000].map((now) => attempts.waitMs(now))).toEqual([2_000, 1_500, 1, 0, 0]);
  expect(attempts.refusal(600)).toMatchObject({
    code: 'unavailable',
    headers: { 'Retry-After': '2' },
    extensions: { degraded: ['database'] },
  });
  expect(attempts.refusal(2_100)).toBeUndefined();
  expect(attempts.isFailing).toBe(true);
});

it('begins anew after a success', () => {
  const attempts = new Attempts();
  for (const now of [0, 1, 2]) attempts.fail(now, failure);
  attempts.succeed();
  expect([attempts.waitMs(3), attempts.isFailing]).toEqual([0, false]);
  attempts.fail(3, failure);
  expect(attempts.waitMs(3)).toBe(1_000);
});

it('passes on an answer of the application, and does not count it as a failure', () => {
  const attempts = new Attempts();
  for (const now of [0, 0, 0]) attempts.fail(now, new Problem('forbidden', 'This tenant has not paid'));
  expect(attempts.refusal(0)).toMatchObject({ status: 403, message: 'This tenant has not paid', headers: {} });
  expect([attempts.waitMs(0), attempts.isFailing]).toEqual([5_000, false]);
  attempts.fail(0, failure);
  expect(attempts.waitMs(0)).toBe(1_000);
});

it('keeps the reason from those who ask', () => {
  const attempts = new Attempts();
  attempts.fail(0, new SetupError('Run the migration of acme'));
  const { message, extensions } = attempts.refusal(0)!;
  expect(message).toBe('This tenant is not set up correctly; the log of the server says why');
  expect(extensions).toEqual({ degraded: ['setup'] });
});

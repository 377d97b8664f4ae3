import { expect, it } from 'vitest';
import { Budget } from './budget.js';

const refused = (code: string) => expect.objectContaining({ code, message: 'Too much' });
const create = () => new Budget({ total: 10, perUser: 6, refusal: 'Too much' });

it('limits each user to a share, and all users to the total', () => {
  const budget = create();
  const [ann, again, ben] = [budget.open('ann'), budget.open('ann'), budget.open('ben')];
  ann.take(5);
  expect(() => again.take(2)).toThrow(refused('too-many-requests'));
  again.take(1);
  expect(() => ben.take(5)).toThrow(refused('unavailable'));
  expect(ben.tryTake(5)).toBe(false);
  expect(ben.tryTake(4)).toBe(true);
  expect(budget.used).toBe(10);
});

it('returns what a reservation took, and only once', () => {
  const budget = create();
  const [ann, ben] = [budget.open('ann'), budget.open('ben')];
  ann.take(6);
  ben.take(4);
  ann.end();
  ann.end();
  expect(budget.used).toBe(4);
  budget.open('ann').take(6);
  expect(() => ben.take(1)).toThrow(refused('unavailable'));
});

it('returns what failed work took', async () => {
  const budget = create();
  const work = budget.during('ann', async (reservation) => {
    reservation.take(6);
    expect(budget.used).toBe(6);
    throw new Error('failed');
  });
  await expect(work).rejects.toThrow('failed');
  expect(budget.used).toBe(0);
});

it('spreads the retry delays of refused requests', () => {
  const budget = create();
  const retryDelays = Array.from({ length: 100 }, () => {
    try {
      return budget.open('ann').take(7) as never;
    } catch (error) {
      return Number((error as { headers: Record<string, string> }).headers['Retry-After']);
    }
  });
  expect(new Set(retryDelays)).toEqual(new Set([1, 2, 3, 4]));
});

import { expect, it } from 'vitest';
import { Company } from '../../src/tenants/company.js';

it('a tenant is alone if no other one has had a request for a second', () => {
  const company = new Company();
  expect(company.isAlone('a', 0)).toBe(true);
  company.note('a', 0);
  expect([company.isAlone('a', 10), company.isAlone('b', 10)]).toEqual([true, false]);
  company.note('b', 500);
  for (let now = 500; now < 1_500; now += 10) company.note('a', now);
  expect([company.isAlone('a', 1_499), company.isAlone('a', 1_500)]).toEqual([false, true]);
  company.note('c', 1_600);
  company.note('a', 1_700);
  expect([company.isAlone('a', 1_800), company.isAlone('b', 1_800), company.isAlone('c', 1_800)]).toEqual([
    false,
    false,
    false,
  ]);
});

/** Two tenants with requests of their own kinds, and a flood of a third; how many times as long as it took each rests. */
function during(
  times: number,
  seconds: number,
  company = new Company(),
  start = 0,
): { company: Company; rest: number } {
  let rest = 0;
  for (let now = start; now < start + 1_000 * seconds; now += 10) {
    company.noteServed('quick', 2 * times, now);
    company.noteServed('slow', 20 * times, now);
    rest = company.restMs(1, now);
  }
  return { company, rest };
}

function calm(seconds = 10): Company {
  const company = new Company();
  for (let now = -1_000 * (seconds + 2); now < -2_000; now += 10) {
    company.noteServed('quick', 2, now);
    company.noteServed('slow', 20, now);
  }
  return company;
}

it('a flood has what the others leave: all, if these take no longer than usual, and hardly anything if they do', () => {
  expect(during(1, 60, calm()).rest).toBeLessThan(0.1);
  expect(during(1.5, 5, calm()).rest).toBe(64);
});

it('what a flood may have changes with what the others suffer', () => {
  const { company } = during(2, 5, calm());
  expect(during(1, 60, company, 5_000).rest).toBeLessThan(0.1);
  expect(during(2, 5, company, 65_000).rest).toBe(64);
});

it('what is usual is not learned from a flood, unless it lasts', () => {
  const { company } = during(1.5, 5, calm());
  expect(during(1.5, 5, company, 5_000).rest).toBe(64);
  expect(during(1.5, 150, company, 10_000).rest).toBeLessThan(0.1);
});

it('no place rests for longer than half a second', () => {
  const { company } = during(2, 5, calm());
  expect(company.restMs(10_000, 5_000)).toBe(500);
});

it('requests that take no time, and those of a tenant that was closed, do no harm', () => {
  const company = calm();
  company.noteServed('quick', 0, 0);
  company.forget('slow');
  expect(during(1, 60, company).rest).toBeLessThan(0.1);
});

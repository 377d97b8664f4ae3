import { describe, expect, it } from 'vitest';
import { PollSchedule } from './poll-schedule.js';

/** Creates a schedule of polls at most 100 ms apart, one of which has begun at 1000. */
function startedSchedule(): PollSchedule {
  const schedule = new PollSchedule(100);
  schedule.begin(1000);
  return schedule;
}

/** Creates a schedule after `count` consecutive failed polls, the last of which began at 1000. */
function failedSchedule(count: number): PollSchedule {
  const schedule = startedSchedule();
  for (let i = 0; i < count; i++) schedule.fail();
  return schedule;
}

describe('after a poll', () => {
  it('the next one is due an interval after it began', () => {
    const schedule = startedSchedule();
    schedule.succeed(1020, false);
    expect(schedule.due()).toBe(1100);
  });

  it('that took long and read changes, the next one is due after a rest of twice that time', () => {
    const schedule = startedSchedule();
    schedule.succeed(1200, true);
    expect(schedule.due()).toBe(1600);
    schedule.wake();
    expect(schedule.due()).toBe(1600);
  });

  it('that was delayed, the next one is due after at most half a second', () => {
    const schedule = startedSchedule();
    schedule.succeed(9000, true);
    expect(schedule.due()).toBe(9500);
  });

  it('that took long and found nothing, the next one is due an interval after it began', () => {
    const schedule = startedSchedule();
    schedule.succeed(1300, false);
    expect(schedule.due()).toBe(1100);
  });

  it('and a wake-up, the next one is due immediately, and the one after it an interval later', () => {
    const schedule = startedSchedule();
    schedule.succeed(1000, false);
    schedule.wake();
    expect(schedule.due()).toBe(1000);
    schedule.begin(1050);
    schedule.succeed(1050, false);
    expect(schedule.due()).toBe(1150);
  });

  it('that found changes, the next one is due soon, and later ones after growing pauses', () => {
    const schedule = startedSchedule();
    schedule.succeed(1001, true);
    expect(schedule.due()).toBe(1005);
    for (const [at, due] of [
      [1005, 1010],
      [1080, 1085],
      [1800, 1805],
      [9000, 9010],
      [41000, 41050],
      [99000, 99100],
    ] as const) {
      schedule.begin(at);
      schedule.succeed(at, false);
      expect(schedule.due()).toBe(due);
    }
  });

  it('that follows changes by seconds, the next one is due after a 30th of the interval', () => {
    const schedule = new PollSchedule(600);
    schedule.begin(1000);
    schedule.succeed(1000, true);
    schedule.begin(6000);
    schedule.succeed(6000, false);
    expect(schedule.due()).toBe(6020);
  });

  it('that was woken while it ran, the next one is due after a rest', () => {
    const schedule = startedSchedule();
    schedule.wake();
    schedule.succeed(1010, true);
    expect(schedule.due()).toBe(1030);
  });
});

describe('a poll', () => {
  it.each([
    [1, 1100],
    [2, 1200],
    [3, 1400],
    [4, 1800],
    [5, 2000],
    [500, 2000],
  ])('after %d failures is due at %d ms', (count, due) => {
    expect(failedSchedule(count).due()).toBe(due);
  });

  it.each([1, 5, 500])('after %d failures and a wake-up is due soon, but not immediately', (count) => {
    const schedule = failedSchedule(count);
    schedule.wake();
    expect(schedule.due()).toBe(1050);
    schedule.begin(1050);
    schedule.fail();
    expect(schedule.due()).toBeGreaterThan(1100);
  });

  it('after failures and a success is due an interval later', () => {
    const schedule = failedSchedule(5);
    schedule.begin(3000);
    schedule.succeed(3000, false);
    expect(schedule.due()).toBe(3100);
  });

  it('after a failure is not delayed by the work of earlier ones', () => {
    const schedule = startedSchedule();
    schedule.succeed(1200, false);
    schedule.begin(1600);
    schedule.fail();
    expect(schedule.due()).toBe(1700);
  });

  it('reports its failure only if the previous one succeeded', () => {
    const schedule = startedSchedule();
    expect([schedule.fail(), schedule.fail(), schedule.fail()]).toEqual([true, false, false]);
    schedule.succeed(1000, false);
    expect(schedule.fail()).toBe(true);
  });
});

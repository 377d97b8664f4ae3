import { describe, expect, it } from 'vitest';
import { LookTimes } from './look-times.js';

/** Times of looks that are at most 100 ms apart, one of which has begun at 1000. */
function begun(): LookTimes {
  const times = new LookTimes(() => 100);
  times.begin(1000);
  return times;
}

/** Times after so many looks that failed at once, the last of them at 1000. */
function failed(count: number): LookTimes {
  const times = begun();
  for (let i = 0; i < count; i++) times.fail();
  return times;
}

describe('after a look', () => {
  it('the next one is due an interval after its beginning', () => {
    const times = begun();
    times.succeed(1020, false);
    expect(times.due()).toBe(1100);
  });

  it('that worked for long, it is due when there has been rest for twice as long', () => {
    const times = begun();
    times.succeed(1200, true);
    expect(times.due()).toBe(1600);
    times.nudge();
    expect(times.due()).toBe(1600);
  });

  it('that was held up, it is due soon all the same', () => {
    const times = begun();
    times.succeed(9000, true);
    expect(times.due()).toBe(9500);
  });

  it('that found nothing, it is due as ever, however long that took', () => {
    const times = begun();
    times.succeed(1300, false);
    expect(times.due()).toBe(1100);
  });

  it('with a nudge it is due at once, and then an interval later again', () => {
    const times = begun();
    times.succeed(1000, false);
    times.nudge();
    expect(times.due()).toBe(1000);
    times.begin(1050);
    times.succeed(1050, false);
    expect(times.due()).toBe(1150);
  });

  it('that had news, it is due soon, then ever later: changes come at their own pace', () => {
    const times = begun();
    times.succeed(1001, true);
    expect(times.due()).toBe(1005);
    for (const [at, due] of [
      [1005, 1010],
      [1080, 1085],
      [1800, 1805],
      [9000, 9010],
      [41000, 41050],
      [99000, 99100],
    ] as const) {
      times.begin(at);
      times.succeed(at, false);
      expect(times.due()).toBe(due);
    }
  });

  it('seconds after one that had news, it is due after a 30th of the interval', () => {
    const times = new LookTimes(() => 600);
    times.begin(1000);
    times.succeed(1000, true);
    times.begin(6000);
    times.succeed(6000, false);
    expect(times.due()).toBe(6020);
  });

  it('with a nudge while it was under way, it is due when there has been rest', () => {
    const times = begun();
    times.nudge();
    times.succeed(1010, true);
    expect(times.due()).toBe(1030);
  });
});

describe('after a look that failed', () => {
  it.each([
    [1, 1100],
    [2, 1200],
    [3, 1400],
    [4, 1800],
    [5, 2000],
    [500, 2000],
  ])('for the %dth time, the next one is due ever later', (count, due) => {
    expect(failed(count).due()).toBe(due);
  });

  it.each([1, 5, 500])('for the %dth time, a nudge makes it due soon, and not at once', (count) => {
    const times = failed(count);
    times.nudge();
    expect(times.due()).toBe(1050);
    times.begin(1050);
    times.fail();
    expect(times.due()).toBeGreaterThan(1100);
  });

  it('one that succeeds ends the waiting', () => {
    const times = failed(5);
    times.begin(3000);
    times.succeed(3000, false);
    expect(times.due()).toBe(3100);
  });

  it('there is no rest from the work before it', () => {
    const times = begun();
    times.succeed(1200, false);
    times.begin(1600);
    times.fail();
    expect(times.due()).toBe(1700);
  });

  it('only the first is news', () => {
    const times = begun();
    expect([times.fail(), times.fail(), times.fail()]).toEqual([true, false, false]);
    times.succeed(1000, false);
    expect(times.fail()).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { mutation } from '../../test/integration/writes/push-requests.js';
import { Runs } from './runs.js';

const from = (first: number, last: number, name = 'm', clientID = 'c') =>
  Array.from({ length: last - first + 1 }, (_, i) => mutation(first + i, name, null, clientID));
const ids = (run: readonly { id: number }[]) => run.map(({ id }) => id);
const none = new Set<string>();

describe('a run', () => {
  it('has what follows one another', () => {
    expect(ids(new Runs(from(4, 9), none).next(2))).toEqual([6, 7, 8, 9]);
  });

  it('ends before another client', () => {
    expect(ids(new Runs([...from(1, 2), ...from(3, 4, 'm', 'd')], none).next(0))).toEqual([1, 2]);
  });

  it('ends before a gap, and before a mutation that comes again', () => {
    expect(ids(new Runs([...from(1, 2), ...from(4, 5)], none).next(0))).toEqual([1, 2]);
    expect(ids(new Runs([...from(1, 2), ...from(2, 3)], none).next(0))).toEqual([1, 2]);
  });

  it('ends before a mutator that shares no transaction, which has a run of its own', () => {
    const runs = new Runs([...from(1, 2), ...from(3, 3, 'alone'), ...from(4, 5)], new Set(['alone']));
    expect(ids(runs.next(0))).toEqual([1, 2]);
    expect(ids(runs.next(2))).toEqual([3]);
    expect(ids(runs.next(3))).toEqual([4, 5]);
  });

  it('has no more than a hundred', () => {
    const runs = new Runs(from(1, 250), none);
    expect([0, 100, 200].map((start) => runs.next(start).length)).toEqual([100, 100, 50]);
  });
});

describe('after a run that failed', () => {
  it('those before the one that failed are next, then that one alone, then the others', () => {
    const runs = new Runs(from(1, 9), none);
    runs.failed(runs.next(0), 3);
    expect(ids(runs.next(0))).toEqual([1, 2, 3]);
    expect(ids(runs.next(3))).toEqual([4]);
    expect(ids(runs.next(4))).toEqual([5, 6, 7, 8, 9]);
  });

  it('the first that failed is alone', () => {
    const runs = new Runs(from(1, 9), none);
    runs.failed(runs.next(0), 0);
    expect(ids(runs.next(0))).toEqual([1]);
    expect(ids(runs.next(1))).toHaveLength(8);
  });

  it('all of them are alone if none is to blame', () => {
    const runs = new Runs([...from(1, 3), ...from(1, 2, 'm', 'd')], none);
    runs.failed(runs.next(0), undefined);
    expect([0, 1, 2].map((start) => ids(runs.next(start)))).toEqual([[1], [2], [3]]);
    expect(ids(runs.next(3))).toEqual([1, 2]);
  });

  it('a shorter run may fail, too', () => {
    const runs = new Runs(from(1, 9), none);
    runs.failed(runs.next(0), 4);
    runs.failed(runs.next(0), 1);
    expect([0, 1, 2].map((start) => runs.next(start).length)).toEqual([1, 1, 7]);
  });
});

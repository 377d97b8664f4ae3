import { describe, expect, it } from 'vitest';
import { mutation } from '../../../../test/integration/writes/push-requests.js';
import { Batches } from './batches.js';

const from = (first: number, last: number, name = 'm', clientID = 'c') =>
  Array.from({ length: last - first + 1 }, (_, i) => mutation(first + i, name, null, clientID));
const ids = (batch: readonly { id: number }[]) => batch.map(({ id }) => id);
const none = new Set<string>();

describe('a batch', () => {
  it('contains consecutive mutations', () => {
    expect(ids(new Batches(from(4, 9), none).next(2))).toEqual([6, 7, 8, 9]);
  });

  it('ends before a mutation of another client', () => {
    expect(ids(new Batches([...from(1, 2), ...from(3, 4, 'm', 'd')], none).next(0))).toEqual([1, 2]);
  });

  it('ends before a gap, and before a repeated mutation', () => {
    expect(ids(new Batches([...from(1, 2), ...from(4, 5)], none).next(0))).toEqual([1, 2]);
    expect(ids(new Batches([...from(1, 2), ...from(2, 3)], none).next(0))).toEqual([1, 2]);
  });

  it('ends before a mutator that shares no transaction, which has its own batch', () => {
    const batches = new Batches([...from(1, 2), ...from(3, 3, 'alone'), ...from(4, 5)], new Set(['alone']));
    expect(ids(batches.next(0))).toEqual([1, 2]);
    expect(ids(batches.next(2))).toEqual([3]);
    expect(ids(batches.next(3))).toEqual([4, 5]);
  });

  it('contains at most a hundred mutations', () => {
    const batches = new Batches(from(1, 250), none);
    expect([0, 100, 200].map((start) => batches.next(start).length)).toEqual([100, 100, 50]);
  });
});

describe('after a failed batch', () => {
  it('the mutations before the failed one are next, then that one alone, then the others', () => {
    const batches = new Batches(from(1, 9), none);
    batches.recordFailure(batches.next(0), 3);
    expect(ids(batches.next(0))).toEqual([1, 2, 3]);
    expect(ids(batches.next(3))).toEqual([4]);
    expect(ids(batches.next(4))).toEqual([5, 6, 7, 8, 9]);
  });

  it('a first mutation that failed is alone', () => {
    const batches = new Batches(from(1, 9), none);
    batches.recordFailure(batches.next(0), 0);
    expect(ids(batches.next(0))).toEqual([1]);
    expect(ids(batches.next(1))).toHaveLength(8);
  });

  it('each mutation is alone if it is unknown which one failed', () => {
    const batches = new Batches([...from(1, 3), ...from(1, 2, 'm', 'd')], none);
    batches.recordFailure(batches.next(0), undefined);
    expect([0, 1, 2].map((start) => ids(batches.next(start)))).toEqual([[1], [2], [3]]);
    expect(ids(batches.next(3))).toEqual([1, 2]);
  });

  it('a shorter batch may fail, too', () => {
    const batches = new Batches(from(1, 9), none);
    batches.recordFailure(batches.next(0), 4);
    batches.recordFailure(batches.next(0), 1);
    expect([0, 1, 2].map((start) => batches.next(start).length)).toEqual([1, 1, 7]);
  });
});

import { expect, it } from 'vitest';
import type { SyncedTable } from '../store/patches/states.js';
import type { BoundView } from '../view/client-views.js';
import type { CompiledView } from '../view/compile/compile.js';
import { Audiences, type Listener, type Outlook } from './audiences.js';

const views = { todo: {} as CompiledView, list: {} as CompiledView };
const table = (id: number): SyncedTable => ({ id }) as SyncedTable;
const bound = (view: CompiledView, ...literals: string[]): BoundView => ({ view, literals }) as unknown as BoundView;

function outlook(userID: string, shape = 'a'): Outlook {
  const literal = `'${userID}'`;
  return { views: [bound(views.todo, literal), bound(views.list)], tables: [table(1), table(2)], shape };
}

function listener(userID: string): Listener {
  const seen = outlook(userID);
  return { clientGroupID: userID, userID, outlook: seen, foundAt: 'a', lookUp: async () => seen, poke: () => {} };
}

/** The users on each seat of each audience. */
const seating = (audiences: Audiences) =>
  [...audiences.all()].map(({ seats }) =>
    [...seats.values()].map(({ parameters: { literals }, listeners }) => [
      ...literals,
      ...[...listeners].map((one) => one.userID),
    ]),
  );

it('seats listeners with the same parameters together', () => {
  const audiences = new Audiences();
  for (const userID of ['ann', 'ben', 'ann']) audiences.add(listener(userID));
  expect(audiences.size).toBe(3);
  expect(seating(audiences)).toEqual([
    [
      ["'ann'", 'ann', 'ann'],
      ["'ben'", 'ben'],
    ],
    [['ann', 'ben', 'ann']],
  ]);
  expect(audiences.tables().map(({ id }) => id)).toEqual([1, 2]);
});

it('keeps nothing of those who have left', () => {
  const audiences = new Audiences();
  const all = ['ann', 'ben', 'ann'].map(listener);
  for (const one of all) audiences.add(one);
  audiences.remove(all[0]!);
  audiences.remove(all[0]!);
  expect(seating(audiences)).toEqual([
    [
      ["'ann'", 'ann'],
      ["'ben'", 'ben'],
    ],
    [['ben', 'ann']],
  ]);
  for (const one of all) audiences.remove(one);
  expect([audiences.size, seating(audiences), audiences.tables()]).toEqual([0, [], []]);
});

it('moves a listener who sees something else, unless it has left', () => {
  const audiences = new Audiences();
  const ann = listener('ann');
  audiences.add(ann);
  audiences.move(ann, { views: [bound(views.list)], tables: [table(2)], shape: 'b' });
  expect(seating(audiences)).toEqual([[['ann']]]);
  expect(audiences.tables().map(({ id }) => id)).toEqual([2]);
  audiences.remove(ann);
  audiences.move(ann, outlook('ann'));
  expect(audiences.size).toBe(0);
});

it('pokes those who still listen', () => {
  const audiences = new Audiences();
  const poked: string[] = [];
  const [ann, ben] = ['ann', 'ben'].map((userID) => ({ ...listener(userID), poke: () => void poked.push(userID) }));
  audiences.add(ann!);
  audiences.poke([ann!, ben!]);
  expect(poked).toEqual(['ann']);
});

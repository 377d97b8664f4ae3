import { expect, it } from 'vitest';
import type { Installation } from '../installation/installation.js';
import { Audiences, type Listener, type Outlook } from './audiences.js';
import { Outlooks } from './outlooks.js';

const outlookOf = (shape: string): Outlook => ({ views: [], tables: [], shape });
const installation = (shape: string, cluster = 'c') => ({ shape, cluster }) as Installation;

/** Outlooks that were found at the shape `a`, with what the next reading of the catalogs brings. */
function setUp() {
  const audiences = new Audiences();
  let present = installation('a');
  const outlooks = new Outlooks(audiences, async () => present);
  const add = (name: string, lookUp: () => Promise<Outlook>, foundAt: string | undefined = 'a') => {
    const outlook = outlookOf(`${name} 1`);
    const listener: Listener = { clientGroupID: name, userID: name, outlook, foundAt, lookUp, poke: () => {} };
    audiences.add(listener);
    return listener;
  };
  return {
    add,
    audiences,
    read: (shape: string, cluster?: string) => {
      present = installation(shape, cluster);
    },
    refreshed: async () => [...(await outlooks.refresh())].map(({ userID }) => userID),
  };
}

it('finds the listeners for whom the shape of their tables has changed, each time once', async () => {
  const { add, read, refreshed } = setUp();
  const ann = add('ann', async () => outlookOf('ann 2'));
  add('ben', async () => outlookOf('ben 1'));
  expect(await refreshed()).toEqual([]);
  read('b');
  expect(await refreshed()).toEqual(['ann']);
  expect(ann.outlook.shape).toBe('ann 2');
  expect(await refreshed()).toEqual([]);
  read('b');
  expect(await refreshed()).toEqual([]);
});

it('brings up to the present whoever came while the shape changed', async () => {
  const { add, read, refreshed } = setUp();
  add('ann', async () => outlookOf('ann 2'));
  read('b');
  add('ben', async () => outlookOf('ben 1'), 'b');
  add('cam', async () => outlookOf('cam 2'), 'a');
  expect(await refreshed()).toEqual(['ann', 'cam']);
});

it('looks for an outlook that could not be found at each new reading, and tells of it twice', async () => {
  const { add, read, refreshed } = setUp();
  let looks = 0;
  add('ann', async () => {
    if (looks++ < 2) throw new Error('not captured');
    return outlookOf('ann 1');
  });
  read('b');
  expect(await refreshed()).toEqual(['ann']);
  expect(await refreshed()).toEqual([]);
  read('b');
  expect(await refreshed()).toEqual([]);
  expect(looks).toBe(2);
  // The same shape, and again something to pull.
  read('b');
  expect(await refreshed()).toEqual(['ann']);
  read('b');
  expect(await refreshed()).toEqual([]);
  expect(looks).toBe(3);
});

it('finds everybody when another cluster answers', async () => {
  const { add, read, refreshed } = setUp();
  for (const name of ['ann', 'ben']) add(name, async () => outlookOf(`${name} 1`));
  expect(await refreshed()).toEqual([]);
  read('a', 'promoted');
  expect(await refreshed()).toEqual(['ann', 'ben']);
});

it('leaves those who have left meanwhile', async () => {
  const { add, audiences, read, refreshed } = setUp();
  const ann: Listener = add('ann', async () => {
    audiences.remove(ann);
    return outlookOf('ann 2');
  });
  read('b');
  await refreshed();
  expect(audiences.size).toBe(0);
});

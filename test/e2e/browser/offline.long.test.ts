import { describe, expect } from 'vitest';
import { it, useDemo } from './fixture.js';
import type { AppPage, Profile } from './profile.js';

const fixture = useDemo();

interface Way {
  readonly by: string;
  turn(isOnline: boolean, ann: AppPage, profile: Profile): Promise<unknown>;
}

const ways: readonly Way[] = [
  { by: 'by its switch', turn: (_, { offline }) => offline.click() },
  { by: 'with the network', turn: (isOnline, _, { context }) => context.setOffline(!isOnline) },
];

describe.each(ways)('an application that goes offline $by', ({ turn }) => {
  it('continues to work, and catches up when it is online again', async () => {
    await fixture.sql("update todo set done = false where list_id = 'ann-home'");
    const profile = await fixture.profile();
    const ann = await profile.app('ann');
    const ben = await (await fixture.profile()).app('ben');
    for (const { list } of [ann, ben]) await list('Home').click();
    for (const { todo } of [ann, ben]) await todo('Clean the shelf').waitFor();
    const state = () => ann.sync.getAttribute('data-state');
    const pending = () => ann.sync.getAttribute('data-pending');
    await expect.poll(state).toBe('online');

    profile.watch.allow(/net::ERR_INTERNET_DISCONNECTED/);
    await turn(false, ann, profile);
    await expect.poll(state).toBe('offline');
    await ann.todo('Clean the shelf').click();
    await ann.done('Clean the shelf').waitFor();
    await expect.poll(pending).toBe('1');
    await ben.todo('Repair the shelf').click();
    const done = () => fixture.sql<{ title: string }>("select title from todo where list_id = 'ann-home' and done");
    await expect.poll(done).toEqual([{ title: 'Repair the shelf' }]);
    expect(await ann.done('Clean the shelf').count()).toBe(1);
    expect(await ann.done('Repair the shelf').count()).toBe(0);

    await turn(true, ann, profile);
    await ben.done('Clean the shelf').waitFor();
    await ann.done('Repair the shelf').waitFor();
    await expect.poll(pending).toBe('0');
    await expect.poll(state).toBe('online');
  });
});

it('a change made while the server is down arrives when the server is back', async () => {
  const profile = await fixture.profile();
  const ann = await profile.app('ann');
  await ann.list('Work').click();
  await ann.todo('Write the offer').waitFor();
  profile.watch.allow(/net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)/);
  // A stopping server accepts no new streams.
  profile.watch.allow(/\b503\b.*\/sync\/poke\?/);
  await fixture.demo.restart(async () => {
    await ann.todo('Write the offer').click();
  });
  const done = () => fixture.sql("select from todo where title = 'Write the offer' and done");
  await expect.poll(done).toHaveLength(1);
  await expect.poll(() => ann.sync.getAttribute('data-pending')).toBe('0');
  await fixture.sql("update todo set title = 'Write the tender' where title = 'Write the offer'");
  await ann.todo('Write the tender').waitFor();
});

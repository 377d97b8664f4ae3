import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { quantile } from '../../../bench/statistics.js';
import { it, useDemo } from './fixture.js';

const { profile, sql } = useDemo();

/** More than fit on the screen, and far fewer than the list has. */
const maxItems = 200;

/** Scrolls a list to its end in equal steps, one in each frame, and returns the frames' times in milliseconds. */
function scrollToEnd(todos: Locator, frames: number): Promise<number[]> {
  return todos.evaluate(async (list, frames) => {
    const canScroll = (element: Element) =>
      element.scrollHeight > element.clientHeight && /auto|scroll/.test(getComputedStyle(element).overflowY);
    let scroller: Element = list;
    while (scroller.parentElement && !canScroll(scroller)) scroller = scroller.parentElement;
    const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    const times: number[] = [];
    let last = await frame();
    for (let i = 1; i <= frames; i++) {
      scroller.scrollTop = ((scroller.scrollHeight - scroller.clientHeight) * i) / frames;
      const now = await frame();
      times.push(now - last);
      last = now;
    }
    return times;
  }, frames);
}

it('10,000 more todos arrive on both screens, and the page renders only the visible ones', async () => {
  const ann = await (await profile()).app('ann');
  const ben = await (await profile()).app('ben');
  for (const { list } of [ann, ben]) await list('Home').click();
  for (const { todo } of [ann, ben]) await todo('Clean the shelf').waitFor();
  await ann.button('Add 10,000 todos').click();
  await expect.poll(() => sql("select from todo where list_id = 'ann-home'")).toHaveLength(10_036);
  const [last] = await sql<{ title: string }>(
    "select title from todo where list_id = 'ann-home' order by sort desc, id desc limit 1",
  );

  for (const { page, todo, todos, items } of [ann, ben]) {
    await expect
      .poll(async () => {
        await scrollToEnd(todos, 1);
        return todo(last!.title).isVisible();
      })
      .toBe(true);
    expect(await items.count()).toBeLessThan(maxItems);
    await page.reload();
  }
  await ann.list('Home').click();
  await ann.todo('Clean the shelf').waitFor();
  const times = await scrollToEnd(ann.todos, 300);
  await ann.todo(last!.title).waitFor();
  expect(await ann.items.count()).toBeLessThan(maxItems);
  const [median, p95, longest] = [0.5, 0.95, 1].map((q) => quantile(times, q).toFixed(1));
  console.log(`frames while scrolling over 10,000 todos: median ${median} ms, p95 ${p95} ms, longest ${longest} ms`);
});

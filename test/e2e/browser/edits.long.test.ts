/** Tests edits of titles while others change the same todo, and the keys of input methods. */
import { describe, expect } from 'vitest';
import { it, useDemo } from './fixture.js';
import { composeText } from './input-method.js';
import type { AppPage } from './profile.js';

const fixture = useDemo();

const titleOf = async (id: string) => {
  const [row] = await fixture.sql<{ title: string }>('select title from todo where id = $1', [id]);
  return row?.title;
};

/** Opens Ann's page with her list "Home", whose first todo has this title. */
async function openHome(title: string): Promise<AppPage> {
  await fixture.sql("update todo set title = $1, done = false where id = 'ann-home-1'", [title]);
  const ann = await (await fixture.profile()).app('ann');
  await ann.list('Home').click();
  await ann.todo(title).waitFor();
  return ann;
}

const field = ({ page }: AppPage) => page.getByRole('textbox', { name: /^Edit / });

/** Writes something else, and waits until the server has it and all earlier writes. */
async function flush(ann: AppPage, title: string): Promise<void> {
  await ann.newTodo.fill(title);
  await ann.newTodo.press('Enter');
  await expect.poll(() => fixture.sql('select from todo where title = $1', [title])).toHaveLength(1);
  await expect.poll(() => ann.sync.getAttribute('data-pending')).toBe('0');
}

describe('an edit of a title that changes during the edit', () => {
  const ends: readonly (readonly [by: string, end: (ann: AppPage) => Promise<unknown>])[] = [
    ['by Enter', (ann) => field(ann).press('Enter')],
    ['by leaving the field', (ann) => ann.newTodo.click()],
    [
      'by Escape, after typing',
      (ann) =>
        field(ann)
          .pressSequentially('x')
          .then(() => field(ann).press('Escape')),
    ],
  ];

  it.each(ends)('writes nothing if it ends %s and the text is unchanged', async (by, end) => {
    const ann = await openHome('Clean the shelf');
    await ann.button('Edit Clean the shelf').click();
    await field(ann).waitFor();
    await fixture.sql("update todo set title = 'Dust the shelf' where id = 'ann-home-1'");
    await ann.todo('Dust the shelf').waitFor();
    await end(ann);
    await ann.button('Edit Dust the shelf').waitFor();
    await flush(ann, `After an end ${by}`);
    expect(await titleOf('ann-home-1')).toBe('Dust the shelf');
  });

  it('writes nothing if the title contains characters that a text field drops', async () => {
    const ann = await openHome(' Two\nlines ');
    await ann.page.getByRole('button', { name: 'Edit Two lines' }).click();
    await field(ann).press('Enter');
    await flush(ann, 'After two lines');
    expect(await titleOf('ann-home-1')).toBe(' Two\nlines ');
  });

  it('writes the text that the user has changed', async () => {
    const ann = await openHome('Clean the shelf');
    await ann.button('Edit Clean the shelf').click();
    await fixture.sql("update todo set title = 'Dust the shelf' where id = 'ann-home-1'");
    await ann.todo('Dust the shelf').waitFor();
    await field(ann).fill('Paint the shelf');
    await field(ann).press('Enter');
    await expect.poll(() => titleOf('ann-home-1')).toBe('Paint the shelf');
  });

  it('ends without an error message if the todo is deleted', async () => {
    const ann = await openHome('Clean the shelf');
    await fixture.sql("insert into todo (id, list_id, title, sort) values ('short-lived', 'ann-home', 'Call Cleo', 0)");
    await ann.button('Edit Call Cleo').click();
    await field(ann).fill('Call Cleopatra');
    await fixture.sql("delete from todo where id = 'short-lived'");
    await field(ann).waitFor({ state: 'detached' });
    await flush(ann, 'After a deletion');
    expect(await ann.notices.textContent()).toBe('');
  });
});

describe('Enter in an input method', () => {
  it('submits neither an edit nor a new todo', async () => {
    const ann = await openHome('Clean the shelf');
    await ann.button('Edit Clean the shelf').click();
    await field(ann).fill('');
    await composeText(ann.page, field(ann), 'たな');
    expect(await field(ann).inputValue()).toBe('たな');
    await field(ann).press('Enter');
    await expect.poll(() => titleOf('ann-home-1')).toBe('たな');

    await ann.newTodo.click();
    await composeText(ann.page, ann.newTodo, 'ほん');
    expect(await ann.newTodo.inputValue()).toBe('ほん');
    await ann.newTodo.press('Enter');
    await ann.todo('ほん').waitFor();
  });
});

it('the page shows why the client does not sync', async () => {
  const profile = await fixture.profile();
  const ann = await profile.app('ann');
  await expect.poll(() => ann.sync.getAttribute('data-state')).toBe('online');
  profile.watch.allow(/\b500\b/);
  await profile.context.route('**/sync/push', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await ann.list('Work').click();
  await ann.todo('Write the offer').click();
  await expect.poll(() => ann.notices.textContent()).toMatch(/\/sync\/push answered with 500\. What to do: /);
  await profile.context.unroute('**/sync/push');
  await expect.poll(() => ann.notices.textContent()).toBe('');

  // Being offline on purpose is not an error.
  await ann.offline.click();
  await expect.poll(() => ann.sync.getAttribute('data-state')).toBe('offline');
  expect(await ann.notices.textContent()).toBe('');
});

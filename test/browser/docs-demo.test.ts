import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { openDocs } from './docs-page.js';
import { it, useDemo } from './fixture.js';

const { profile, sql } = useDemo();

it('what Ann calls on the documentation page appears in her application', async () => {
  const ann = await (await profile()).app('ann');
  await ann.list('Home').click();
  const lists = await sql<{ id: string }>("select id from list where owner_id = 'ann' and name = 'Home'");

  const { context } = await profile();
  const docs = await openDocs(await context.newPage(), '/api/docs');
  await docs.authorize('ann');
  const operation = await docs.open('/api/mutators/todo/create');
  await operation.execute({ id: randomUUID(), listID: lists[0]!.id, title: 'Read the documentation', sort: 0 });
  await expect.poll(() => operation.status.textContent()).toMatch(/^200/);
  expect(JSON.parse((await operation.answer.textContent())!)).toMatchObject({ ok: true });
  await ann.todo('Read the documentation').waitFor();
});

import { afterEach, expect, it } from 'vitest';
import { sql } from '../../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../../packages/tidemark/src/view/define.js';
import { views } from '../../../support/whole-views.js';
import { useFixture } from './fixture.js';

const fixture = useFixture();
const { client } = fixture;
const query = (text: string) => fixture.server.pool.query(text);

/** Another version of the application: lists have one more field, and only short names are visible. */
const list = defineView({
  key: 'id',
  query: ({ ctx }) =>
    sql<{ id: string; name: string }>`
      select id, name, owner_id as "ownerID", length(name) as length from list
      where owner_id = ${ctx.userID} and length(name) < 10`,
});

async function deploy(own: object): Promise<void> {
  await fixture.server.stop();
  await fixture.server.start({ views: { ...views, ...own } });
}

afterEach(() => deploy({}));

it('a view changed by a deployment arrives without the others, and clients continue', async () => {
  await query(`insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries'), ('b', 'ann', 'Garden')`);
  const ann = client('ann');
  await ann.rep.mutate['todo.create']({ id: '1', listID: 'b', title: 'Water', sort: 1 });
  await ann.settle();
  await ann.rep.mutate['list.create']({ id: 'c', name: 'Longer than that' });
  await ann.settle();
  expect(await ann.keys()).toEqual(['list/a', 'list/b', 'list/c', 'todo/1']);
  await ann.persisted();

  await deploy({ list });
  await query(`update list set name = 'Balcony' where id = 'b'`);
  const before = fixture.wire.pulls(ann.rep.clientID).length;
  await ann.pullUntil(async () => !(await ann.keys()).includes('list/c'));
  const { answer } = fixture.wire.pulls(ann.rep.clientID)[before]!;
  expect(answer.patch).toHaveLength(3);
  expect(answer.patch).toEqual(
    expect.arrayContaining([
      { op: 'del', key: 'list/c' },
      { op: 'put', key: 'list/a', value: { id: 'a', name: 'Groceries', ownerID: 'ann', length: 9 } },
      { op: 'put', key: 'list/b', value: { id: 'b', name: 'Balcony', ownerID: 'ann', length: 7 } },
    ]),
  );
  expect(await ann.keys()).toEqual(['list/a', 'list/b', 'todo/1']);

  await ann.rep.mutate['todo.update']({ id: '1', done: true });
  await ann.settle();
  await ann.persisted();
  const tab = client('ann', { name: ann.rep.name });
  await tab.pullUntil(async () => fixture.wire.pulls(tab.rep.clientID).length > 0);
  expect(await tab.entries()).toEqual(await ann.entries());
  expect(fixture.wire.pulls(tab.rep.clientID)[0]!.answer.patch).toEqual([]);
});

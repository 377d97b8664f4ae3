import type { ClientBase } from 'pg';

interface SeedList {
  readonly id: string;
  readonly owner_id: string;
  readonly name: string;
  readonly sharedWith: readonly string[];
  readonly verbs: readonly string[];
  readonly things: readonly string[];
}

const lists: readonly SeedList[] = [
  {
    id: 'ann-home',
    owner_id: 'ann',
    name: 'Home',
    sharedWith: ['ben'],
    verbs: ['Clean', 'Repair', 'Measure', 'Paint', 'Move', 'Sell'],
    things: ['the shelf', 'the kitchen table', 'the balcony door', 'the old lamp', 'the wardrobe', 'the bicycle'],
  },
  {
    id: 'ann-work',
    owner_id: 'ann',
    name: 'Work',
    sharedWith: [],
    verbs: ['Write', 'Review', 'Discuss', 'Translate', 'Shorten', 'Publish', 'Archive'],
    things: ['the offer', 'the manual', 'the press release', 'the budget', 'the contract', 'the report', 'the survey'],
  },
  {
    id: 'ann-trip',
    owner_id: 'ann',
    name: 'Trip to the coast',
    sharedWith: ['ben', 'cam'],
    verbs: ['Book', 'Pack', 'Check', 'Pay for', 'Ask about'],
    things: ['the tent', 'the train', 'the boat', 'the maps', 'the rain jackets', 'the camp site', 'the stove'],
  },
  {
    id: 'ben-garden',
    owner_id: 'ben',
    name: 'Garden',
    sharedWith: ['ann'],
    verbs: ['Plant', 'Water', 'Cut', 'Cover', 'Harvest', 'Replant'],
    things: ['the tomatoes', 'the roses', 'the apple tree', 'the beans', 'the hedge', 'the herbs', 'the pumpkins'],
  },
  {
    id: 'ben-music',
    owner_id: 'ben',
    name: 'Music',
    sharedWith: [],
    verbs: ['Practice', 'Record', 'Transpose', 'Memorize', 'Mix'],
    things: ['the waltz', 'the lullaby', 'the march', 'the duet', 'the study in G', 'the encore'],
  },
  {
    id: 'cam-books',
    owner_id: 'cam',
    name: 'Books',
    sharedWith: [],
    verbs: ['Read', 'Return', 'Lend', 'Review', 'Bind'],
    things: ['the atlas', 'the cookbook', 'the diaries', 'the poems', 'the ghost stories', 'the grammar', 'the plays'],
  },
];

const insertLists = `
  insert into list (id, owner_id, name) select id, owner_id, name from json_populate_recordset(null::list, $1)`;
const insertShares = `
  insert into share (list_id, user_id) select list_id, user_id from json_populate_recordset(null::share, $1)`;
const insertTodos = `
  insert into todo (id, list_id, title, done, sort)
  select id, list_id, title, done, sort from json_populate_recordset(null::todo, $1)`;

/**
 * Fills empty tables with the demo's data, which is always the same.
 * @returns false if there was already a list
 */
export async function seed(client: ClientBase): Promise<boolean> {
  const { rowCount } = await client.query('select from list limit 1');
  if (rowCount !== 0) return false;
  await client.query('begin');
  await client.query(insertLists, [JSON.stringify(lists)]);
  await client.query(insertShares, [JSON.stringify(lists.flatMap(sharesOf))]);
  await client.query(insertTodos, [JSON.stringify(lists.flatMap(todosOf))]);
  await client.query('commit');
  return true;
}

function sharesOf({ id, sharedWith }: SeedList): object[] {
  return sharedWith.map((user) => ({ list_id: id, user_id: user }));
}

function todosOf({ id, verbs, things }: SeedList): object[] {
  const titles = things.flatMap((thing) => verbs.map((verb) => `${verb} ${thing}`));
  return titles.map((title, i) => ({
    id: `${id}-${i + 1}`,
    list_id: id,
    title,
    done: i % 4 === 1,
    sort: i + 1,
  }));
}

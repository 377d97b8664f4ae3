import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  Generator,
  indexes,
  listed,
  type ModelOptions,
  type Row,
} from '../../../test/integration/client/list-model.js';
import { openClient } from './create-client.js';
import type { Client, ClientTransaction, ListOptions, ReadView, StoreProvider } from './index.js';
import type { AnyView } from './server-types.js';
import { memoryStores } from './stores/memory.js';

type View = AnyView & { readonly '~row'?: Row };
type Views = { readonly item: View; readonly other: View };
type Transaction = ClientTransaction<Views>;
type Write = (tx: Transaction) => Promise<void>;

const opened: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((client) => client.close())));

interface Options {
  readonly user?: string;
  readonly kvStore?: StoreProvider;
  readonly itemIndexes?: readonly (string | readonly string[])[];
}

/** Opens a client without a network. Its `write` runs a function as a mutator. */
function openOffline({ user = randomUUID(), kvStore = memoryStores, itemIndexes = indexes }: Options = {}) {
  const writes: Write[] = [];
  const { client, engine } = openClient({
    user,
    url: 'http://127.0.0.1:9',
    kvStore,
    mutators: { write: (tx: Transaction, number: number) => writes[number]!(tx) },
    indexes: { item: itemIndexes },
    pullInterval: null,
  } as never);
  client.setOnline(false);
  opened.push(client);
  return {
    client: client as unknown as Client<unknown, Views>,
    engine,
    write: (body: Write) => engine.call('write', writes.push(body) - 1),
  };
}

const ids = (rows: readonly Row[]) => rows.map(({ id }) => id);
const setAll = (rows: readonly Row[]): Write => {
  return async (tx) => {
    for (const row of rows) await tx.view('item').set(row.id, row);
  };
};

/** Compares the lists and counts of a view with those of plain rows, for random options. */
async function compare(view: ReadView<Row>, rows: readonly Row[], generator: Generator, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const options = generator.options(rows);
    const label = JSON.stringify(options);
    expect(ids(await view.list(options as ListOptions<Row>)), label).toEqual(ids(listed(rows, options)));
    const { limit: _, descending, ...chosen } = options;
    if (!descending) expect(await view.count(chosen as ListOptions<Row>), label).toBe(listed(rows, chosen).length);
  }
}

/** Returns random rows with distinct keys. */
function randomRows(generator: Generator, length: number): Map<string, Row> {
  const rows = Array.from({ length }, () => generator.row());
  return new Map(rows.map((row) => [row.id, row]));
}

describe('lists and counts', () => {
  it('equal those of a plain array for random rows and options, also while a mutator writes', async () => {
    const generator = new Generator(1);
    const rows = randomRows(generator, 300);
    const { client, write } = openOffline();
    await write(async (tx) => {
      if (tx.reason === 'rebase') return;
      await setAll([...rows.values()])(tx);
      await tx.view('other').set('a', generator.row('a'));
      await compare(tx.view('item'), [...rows.values()], generator, 100);
    });
    await compare(client.view('item'), [...rows.values()], generator, 500);
    await write(async (tx) => {
      if (tx.reason === 'rebase') return;
      for (let i = 0; i < 100; i++) {
        const id = generator.below(2) > 0 ? generator.some([...rows.keys()]) : generator.key();
        if (generator.below(3) === 0) {
          rows.delete(id);
          await tx.view('item').delete(id);
        } else {
          const row = generator.row(id);
          rows.set(id, row);
          await tx.view('item').set(id, row);
        }
        await compare(tx.view('item'), [...rows.values()], generator, 3);
      }
    });
    await compare(client.view('item'), [...rows.values()], generator, 200);
  });

  it('equal those of a plain array for subscribers after each change', async () => {
    const generator = new Generator(2);
    const rows = randomRows(generator, 60);
    const { client, write } = openOffline();
    await write(setAll([...rows.values()]));
    const all = Array.from({ length: 60 }, () => generator.options([...rows.values()]));
    const lists: (readonly Row[] | undefined)[] = [];
    for (const [i, options] of all.entries()) {
      client.view('item').subscribe((found) => (lists[i] = found), options as ListOptions<Row>);
    }
    const expected = () => all.map((options) => ids(listed(rows.values(), options)));
    await expect.poll(() => lists.map((list) => list && ids(list))).toEqual(expected());
    for (let i = 0; i < 60; i++) {
      const id = generator.below(3) > 0 ? generator.some([...rows.keys()]) : generator.key();
      const row = generator.below(3) > 0 ? generator.row(id) : undefined;
      if (row) rows.set(id, row);
      else rows.delete(id);
      await write((tx) => (row ? tx.view('item').set(id, row) : tx.view('item').delete(id)));
      await expect.poll(() => lists.map((list) => list && ids(list))).toEqual(expected());
    }
  });

  it('equal those of a plain array after the page is reloaded', async () => {
    const generator = new Generator(3);
    const rows = randomRows(generator, 200);
    const user = randomUUID();
    const first = openOffline({ user });
    await first.write(setAll([...rows.values()]));
    await first.engine.persist();
    await first.client.close();
    await compare(openOffline({ user }).client.view('item'), [...rows.values()], generator, 100);
  });
});

describe('a list', () => {
  const row = (id: string, fields: Partial<Row>): Row => ({ id, flag: false, body: '', ...fields });
  const rows = [
    row('1', { text: 'a', number: 10 }),
    row('2', { text: 'a', number: 9 }),
    row('3', { text: 'ab', number: -1 }),
    row('4', { text: null, number: 9 }),
    row('5', { text: 'a', number: 9, flag: true }),
    row('6', {}),
  ];
  async function open() {
    const offline = openOffline({ itemIndexes: ['text', 'number', ['text', 'number'], ['flag', 'text']] });
    await offline.write(setAll(rows));
    const view = offline.client.view('item');
    return { ...offline, list: async (options: ListOptions<Row>) => ids(await view.list(options)).join(''), view };
  }

  it('can be in descending order, with or without an index', async () => {
    const { list } = await open();
    expect(await list({ descending: true })).toBe('654321');
    expect(await list({ descending: true, after: '4', limit: 2 })).toBe('32');
    expect(await list({ by: 'text', descending: true })).toBe('643521');
    expect(await list({ by: 'text', equals: 'a', descending: true, limit: 2 })).toBe('52');
  });

  it('sorts numbers as numbers, and null last', async () => {
    const { list } = await open();
    expect(await list({ by: 'number' })).toBe('324516');
    expect(await list({ by: 'number', equals: 9 })).toBe('245');
    expect(await list({ by: 'number', equals: null })).toBe('6');
    expect(await list({ by: 'text', equals: null })).toBe('46');
  });

  it.each(['Z', '+02:00', '-05:00'])('sorts times with the UTC offset %s chronologically', async (zone) => {
    const { list, write } = await open();
    const times = ['04:05:06', '04:05:06.7', '04:05:06.71', '04:05:06.8', '04:05:07', '05:00:00'];
    await write(setAll(times.toReversed().map((time, i) => row(`${9 - i}`, { text: `2026-02-03T${time}${zone}` }))));
    expect(await list({ by: 'text', prefix: '2026-02-03T' })).toBe('456789');
    expect(await list({ by: 'text', prefix: '2026-02-03T04:05:06.7' })).toBe('56');
    expect(await list({ by: 'text', equals: `2026-02-03T04:05:06.7${zone}` })).toBe('5');
  });

  it('can be selected by the first fields of an index and a prefix of the next one', async () => {
    const { list } = await open();
    expect(await list({ by: ['text', 'number'] })).toBe('251346');
    expect(await list({ by: ['text', 'number'], equals: 'a', descending: true })).toBe('152');
    expect(await list({ by: ['text', 'number'], equals: ['a', 9] })).toBe('25');
    expect(await list({ by: ['text', 'number'], prefix: 'a' })).toBe('2513');
    expect(await list({ by: ['flag', 'text'], equals: false, prefix: 'a' })).toBe('123');
    expect(await list({ by: ['flag', 'text'], equals: [false, null] })).toBe('46');
    expect(await list({ by: ['flag', 'text'], equals: false, prefix: '' })).toBe('123');
  });

  it('continues after a row that has been deleted', async () => {
    const { list, write, client } = await open();
    await write((tx) => tx.view('item').delete('5'));
    const after = { row: rows[4]!, key: '5' };
    expect(await list({ by: ['text', 'number'], after })).toBe('1346');
    expect(await list({ by: ['text', 'number'], after, descending: true })).toBe('2');
    expect(
      await list({ by: ['text', 'number'], equals: 'a', after: { row: { text: 'a', number: 9.5 }, key: '' } }),
    ).toBe('1');
    expect(await client.view('item').count({ by: ['text', 'number'], after })).toBe(4);
  });

  it('without rows is empty', async () => {
    const { list } = await open();
    expect(await list({ limit: 0 })).toBe('');
    expect(await list({ by: 'text', limit: 0, descending: true })).toBe('');
    expect(await list({ by: 'text', equals: 'b' })).toBe('');
  });

  it('rejects incompatible options, and says what to do instead', async () => {
    const { list, view } = await open();
    const rejected = (options: object, message: RegExp) =>
      expect(list(options)).rejects.toMatchObject({ name: 'ClientError', code: 'list-options', message });
    await rejected({ by: 'text', after: '1' }, /let `after` be \{ row, key \}/);
    await rejected({ by: 'text', after: { row: rows[0] } }, /let `after` be \{ row, key \}/);
    await rejected({ after: { row: rows[0], key: '1' } }, /let `after` be a key/);
    await rejected({ equals: 'a' }, /name an index in `by`/);
    await rejected({ by: 'text', equals: ['a', 9] }, /no more fields than the index has/);
    await rejected({ by: 'text', equals: 'a', prefix: '' }, /no more fields than the index has/);
    await expect(view.list({ by: ['number', 'text'] })).rejects.toMatchObject({
      code: 'no-index',
      message: /indexes: \{ item: \[\['number', 'text'\]\] \}/,
    });
    await expect(view.count({ by: 'id' })).rejects.toMatchObject({ message: /indexes: \{ item: \['id'\] \}/ });
  });

  it('contains each remaining row once, in order, if a mutator changes rows during the read', async () => {
    const generator = new Generator(4);
    const all = new Map(
      Array.from({ length: 600 }, (_, i) => generator.row(String(1_000 + i))).map((row) => [row.id, row]),
    );
    const { write } = openOffline();
    await write(setAll([...all.values()]));
    for (let i = 0; i < 10; i++) {
      const options: ModelOptions = { descending: i % 2 > 0, ...(i % 3 > 0 && { by: ['text', 'number'] }) };
      await write(async (tx) => {
        if (tx.reason === 'rebase') return;
        const item = tx.view('item');
        const list = item.list(options as ListOptions<Row>);
        const some = new Set(Array.from({ length: 100 }, () => String(1_000 + generator.below(600))));
        for (const id of some) {
          const { body } = generator.row();
          if (all.has(id) && generator.below(3) === 0) await item.delete(id);
          else if (all.has(id)) await item.update(id, { body });
          else await item.set(id, generator.row(id));
          all.delete(id);
        }
        const found = await list;
        expect(new Set(ids(found)).size).toBe(found.length);
        expect(ids(found)).toEqual(ids(listed(found, options)));
        expect(ids(found.filter(({ id }) => all.has(id)))).toEqual(ids(listed(all.values(), options)));
        for (const row of await item.list()) all.set(row.id, row);
      });
    }
  });
});

/** Creates stores in memory, and a mock that counts reads of nodes with rows. */
function countingStores() {
  const read = vi.fn();
  const stores: StoreProvider = {
    ...memoryStores,
    create(name) {
      const store = memoryStores.create(name);
      const open = store.read.bind(store);
      store.read = async () => {
        const transaction = await open();
        const get = transaction.get.bind(transaction);
        transaction.get = async (key) => {
          const value = await get(key);
          if (Array.isArray(value) && value[0] === 0) read();
          return value;
        };
        return transaction;
      };
      return store;
    },
  };
  return { stores, read };
}

it('the first and the last rows of a large view are found without reading the others', async () => {
  const user = randomUUID();
  const { stores, read } = countingStores();
  const open = () => openOffline({ user, kvStore: stores, itemIndexes: [['text', 'number']] });
  const rows = Array.from({ length: 20_000 }, (_, number) => {
    const text = number % 10 === 0 ? 'other' : 'general';
    return { id: String(100_000 + number), text, number, flag: false, body: 'Hello!' };
  });
  const first = open();
  await first.write(setAll(rows));
  await first.engine.persist();
  await first.client.close();
  const ofChannel: ModelOptions = { by: ['text', 'number'], equals: ['general'] };
  const after = { row: { text: 'general', number: 9_999.5 }, key: '' };
  const ascending: ModelOptions[] = [{}, { after: '110000' }, ofChannel, { ...ofChannel, after }];
  for (const order of [...ascending, ...ascending.map((options) => ({ ...options, descending: true }))]) {
    const { client } = open();
    await client.view('item').get('115000');
    read.mockClear();
    const options = { ...order, limit: 50 };
    expect(ids(await client.view('item').list(options as ListOptions<Row>))).toEqual(ids(listed(rows, options)));
    expect(read.mock.calls.length).toBeGreaterThan(0);
    expect(read.mock.calls.length).toBeLessThanOrEqual(4);
    await client.close();
  }
});

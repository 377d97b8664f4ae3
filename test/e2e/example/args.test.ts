/** Tests what validators refuse, and that their messages do not repeat the input. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { schemas } from '../../../examples/tasks/src/args.js';

const todo = { id: 'u', listID: 'l', title: 'x', sort: 1 };
const share = { listID: 'l', userID: 'ben' };

it.each([
  ['list.create', { id: '', name: 'x' }],
  ['list.create', { id: 'x', name: ' ' }],
  ['list.create', { id: 'x', name: '\u3000\ufeff\n' }],
  ['list.create', { id: 'x', name: 'x'.repeat(201) }],
  ['list.create', { id: 'x', name: `${' '.repeat(200)}x` }],
  ['list.create', { id: 'x'.repeat(101), name: 'x' }],
  ['list.create', { id: '🔑'.repeat(101), name: 'x' }],
  ['list.share', { ...share, userID: 'Not a name' }],
  ['list.share', { ...share, userID: 'ben\n' }],
  ['list.share', { ...share, userID: '' }],
  ['list.share', { ...share, userID: 'b'.repeat(33) }],
  ['list.fill', { listID: 'l', count: 0 }],
  ['list.fill', { listID: 'l', count: 10_001 }],
  ['list.fill', { listID: 'l', count: 1.5 }],
  ['list.fill', { listID: 'l', count: 1e308 }],
  ['todo.create', { ...todo, sort: '1' }],
  ['todo.create', { ...todo, sort: Number.NaN }],
  ['todo.create', { ...todo, sort: Number.NEGATIVE_INFINITY }],
  ['todo.create', { ...todo, title: 'x'.repeat(1001) }],
  ['todo.update', { id: 't', done: 'yes' }],
  ['todo.update', { id: 't', title: null }],
  ['todo.update', { id: 't', sort: Number.POSITIVE_INFINITY }],
  ['todo.delete', {}],
  ['todo.delete', []],
  ['todo.delete', null],
] as const)('%s refuses %j', (name, args) => {
  expect(schemas[name].safeParse(args).success).toBe(false);
});

const texts: readonly [keyof typeof schemas, { readonly [arg: string]: unknown }, string][] = [
  ['list.create', { id: 'x', name: 'x' }, 'id'],
  ['list.create', { id: 'x', name: 'x' }, 'name'],
  ['list.delete', { id: 'x' }, 'id'],
  ['list.share', share, 'listID'],
  ['list.share', share, 'userID'],
  ['list.unshare', share, 'listID'],
  ['list.unshare', share, 'userID'],
  ['list.fill', { listID: 'l', count: 1 }, 'listID'],
  ['todo.create', todo, 'id'],
  ['todo.create', todo, 'listID'],
  ['todo.create', todo, 'title'],
  ['todo.update', { id: 't', title: 'x' }, 'id'],
  ['todo.update', { id: 't', title: 'x' }, 'title'],
  ['todo.delete', { id: 't' }, 'id'],
];

describe.each(texts)('in %s %j, the argument "%s"', (name, args, text) => {
  it.each(['\0', 'a\0', '\0b', 'line\n\0'])('must not contain U+0000, as in %j', (value) => {
    expect(schemas[name].safeParse(args).success).toBe(true);
    expect(schemas[name].safeParse({ ...args, [text]: value }).success).toBe(false);
  });

  it('is not repeated in the refusal', () => {
    for (const value of [`secret\0${'x'.repeat(2000)}`, ['secret'], { secret: 1 }]) {
      const { error } = schemas[name].safeParse({ ...args, [text]: value });
      expect(error!.issues.map(({ path }) => path)).toContainEqual([text]);
      expect(JSON.stringify(error!.issues)).not.toContain('secret');
    }
  });
});

it('validators count characters as a JSON schema does, not UTF-16 units', () => {
  expect(schemas['todo.delete'].safeParse({ id: '🔑'.repeat(100) }).success).toBe(true);
  expect(z.toJSONSchema(schemas['todo.create'], { io: 'input' })).toMatchObject({
    properties: { title: { maxLength: 1000 } },
    $defs: { TodoID: { maxLength: 100 } },
  });
});

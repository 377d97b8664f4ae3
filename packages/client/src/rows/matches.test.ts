import { describe, expect, it } from 'vitest';
import { fieldsMatch } from './matches.js';

it.each<[args: object, row: object]>([
  [{}, { id: 'a' }],
  [{ projectID: '7' }, { id: 'a', projectID: '7' }],
  [{ projectID: '7' }, { id: 'a', project_id: '7' }],
  [{ project_id: '7' }, { id: 'a', projectId: '7' }],
  [{ projectID: 7 }, { id: 'a', projectID: '7' }],
  [
    { projectID: '7', isOpen: true },
    { projectID: 7, is_open: true },
  ],
  [{ ownerID: null }, { ownerID: null }],
  [{ tags: ['a', { x: 1, y: 2 }] }, { tags: ['a', { y: 2, x: 1 }] }],
])('the arguments %j match the row %j', (args, row) => {
  expect(fieldsMatch('issue', args)(row)).toBe(true);
});

it.each<[args: object, row: object]>([
  [{ projectID: '7' }, { projectID: '8' }],
  [
    { projectID: '7', isOpen: true },
    { projectID: '7', isOpen: false },
  ],
  [{ ownerID: null }, { ownerID: 'null' }],
  [{ ownerID: 'null' }, { ownerID: null }],
  [{ tags: ['a'] }, { tags: ['b'] }],
])('the arguments %j do not match the row %j', (args, row) => {
  expect(fieldsMatch('issue', args)(row)).toBe(false);
});

it('finds the field for each row, because rows may leave out fields that are null', () => {
  const matches = fieldsMatch('issue', { projectID: '7' });
  expect([{ project_id: '7' }, { projectID: '7' }, { project_id: '8' }].map(matches)).toEqual([true, true, false]);
});

describe('arguments that cannot be compared with a row', () => {
  it.each<[why: string, args: object, row: unknown]>([
    ['without a field of the name', { text: 'a' }, { id: 'a', title: 'a' }],
    ['without a field of the name, whatever the others are', { projectID: '7', text: 'a' }, { projectID: '8' }],
    ['lists, while the field holds one value', { status: ['open'] }, { status: 'open' }],
    ['of a view whose rows are single values', { projectID: '7' }, 'a'],
  ])('%s, are reported', (_, args, row) => {
    expect(() => fieldsMatch('issue', args)(row)).toThrow(
      expect.objectContaining({ code: 'no-matches', message: expect.stringMatching(/"issue".*What to do: .*matches/) }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { withChanges } from './initial-rows.js';

const issue = (id: string, title = id) => ({ id, title, parentID: null as string | null });
const initial = [issue('a'), issue('b'), issue('c')];
/** The merged rows; `local` if the local ones must show. */
const merged = (
  localRows: readonly unknown[],
  keys: readonly string[],
  { descending, rows = initial }: { descending?: boolean; rows?: readonly unknown[] } = {},
) => withChanges(rows, localRows, new Set(keys), descending) ?? 'local';

describe('the initial rows with the changes of the user', () => {
  it('have a changed row in the place of the initial one, and ignore other local rows', () => {
    expect(merged([issue('a', 'Old'), issue('b', 'Changed')], ['b'])).toEqual([
      issue('a'),
      issue('b', 'Changed'),
      issue('c'),
    ]);
  });

  it('have new rows at the end, or at the beginning if they descend', () => {
    expect(merged([issue('d'), issue('e')], ['e', 'd'])).toEqual([...initial, issue('e'), issue('d')]);
    expect(merged([issue('d')], ['d'], { descending: true })).toEqual([issue('d'), ...initial]);
  });

  it('give way to the local rows if these lack a changed row', () => {
    expect(merged([issue('a'), issue('c')], ['b'])).toBe('local');
    expect(merged(['text'], ['b'], { rows: ['text'] })).toBe('local');
  });

  it('recognize rows by all columns of their key', () => {
    const member = (listID: string, userID: string, role = 'reader') => ({ listID, userID, role });
    const rows = [member('1', 'ann'), member('1', 'ben')];
    const changed = member('1', 'ben', 'editor');
    expect(merged([member('1', 'ann'), changed], ['1/ben'], { rows })).toEqual([rows[0], changed]);
    expect(merged([...rows, member('1', 'cleo')], ['1/cleo'], { rows })).toEqual([...rows, member('1', 'cleo')]);
    expect(merged([rows[0]], ['1/ben'], { rows })).toBe('local');
  });

  it('give way to the local rows if it is unclear which row has the key', () => {
    const child = { ...issue('d'), parentID: 'b' };
    expect(merged([issue('b', 'Changed'), child], ['b'])).toBe('local');
    const numbered = (id: number, sort: number) => ({ id, sort });
    expect(merged([numbered(5, 5)], ['5'], { rows: [numbered(9, 5)] })).toBe('local');
    expect(merged([numbered(5, 1)], ['5'], { rows: [numbered(9, 1), numbered(5, 3)] })).toEqual([
      numbered(9, 1),
      numbered(5, 1),
    ]);
  });
});

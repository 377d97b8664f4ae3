import { afterAll, describe, expect, it } from 'vitest';
import { openPool } from '../../src/db/pg.js';
import { SetupError } from '../../src/errors.js';
import { sql } from '../../src/sql.js';
import { ClientViews } from '../../src/view/client-views.js';
import { defineView } from '../../src/view/define.js';

const db = openPool(process.env.TIDEMARK_TEST_CLUSTER!);
afterAll(() => db.close());

const view = (prefix?: string) =>
  defineView({
    key: 'id',
    query: () => sql<{ id: string }>`select id from t`,
    ...(prefix !== undefined && { prefix }),
  });

describe('the keys of two views', () => {
  it.each([
    [{ a: view('x/'), b: view('x/') }],
    [{ a: view('x'), b: view('x/') }],
    [{ a: view('x/y/'), b: view('x/') }],
    [{ a: view(''), b: view() }],
    [{ todo: view(), other: view('todo/') }],
  ])('must not meet (case %#)', (views) => {
    expect(() => new ClientViews(db, views)).toThrow(SetupError);
    expect(() => new ClientViews(db, views)).toThrow(/could share keys: .* Give one of them another prefix/);
  });

  it('may look alike', () => {
    expect(() => new ClientViews(db, { a: view('x/'), b: view('xy/'), c: view('/x'), todo: view() })).not.toThrow();
  });
});

import { beforeAll, expect, it } from 'vitest';
import { parserLoaded, parseSelect } from '../parse/syntax.js';
import { understand } from './meaning.js';

beforeAll(() => parserLoaded);

it('rejects a query with a subquery that the analysis of Postgres does not contain', () => {
  const empty = { tree: '{QUERY}', offset: 0 };
  expect(() => understand(parseSelect('select 1'), empty)).not.toThrow();
  expect(() => understand(parseSelect('select (select 1)'), empty)).toThrow(
    'it has a subquery in a place where Tidemark cannot tell how Postgres interprets it. Move the subquery into FROM or WITH',
  );
});

import { expect, it } from 'vitest';
import type { ResolvedView } from '../view/client-views.js';
import { nextStage } from './stages.js';

function resolved(...priorities: readonly [name: string, priority: number][]) {
  return {
    views: priorities.map(([name, priority]) => ({ view: { name }, priority }) as ResolvedView),
    viewDigests: ['user', 'parameters', ...priorities.map(([name]) => `digest of ${name}`)].join('.'),
  };
}

const three = resolved(['a', 1], ['b', 0], ['c', 2]);
const cookieOf = (...names: readonly string[]) => ['user', 'x', ...names.map((name) => `digest of ${name}`)].join('.');

it.each([
  ['without a cookie, the lowest priority is first', undefined, ['b'], ['a', 'c']],
  ['then comes the next one', cookieOf('b'), ['a', 'b'], ['c']],
  ['a view that the client has stays, whatever its priority', cookieOf('c'), ['b', 'c'], ['a']],
])('%s', (_, cookie, names, laterViews) => {
  const stage = nextStage(three, cookie)!;
  expect([...stage.names].sort()).toEqual(names);
  expect(stage.laterViews).toEqual(laterViews);
});

it.each([
  ['the client has all views', three, cookieOf('a', 'b', 'c')],
  ['only the last stage is missing', three, cookieOf('a', 'b')],
  ['all views have the same priority', resolved(['a', 3], ['b', 3]), undefined],
  ['there are no views', resolved(), undefined],
])('there is no later stage if %s', (_, views, cookie) => {
  expect(nextStage(views, cookie)).toBeUndefined();
});

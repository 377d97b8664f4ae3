import { and, eq, IR, inArray, like, or } from '@tanstack/db';
import { describe, expect, it } from 'vitest';
import { type OrderField, RequestedInstances } from './requested-instances.js';

const field = (...path: string[]) => new IR.PropRef<string>(path);
const projectID = field('projectID');
const inSeven = eq(projectID, '7');
const orderBy = (...paths: string[][]): IR.OrderBy =>
  paths.map((path) => ({ expression: field(...path), compareOptions: { direction: 'desc', nulls: 'last' } }));

const orders: (readonly OrderField[])[] = [];
/** The instances of a view with the arguments `projectID` and `last`. */
const requested = () =>
  new RequestedInstances('issue', ['projectID'], (limit, order) => {
    orders.push(order);
    return { last: limit };
  });

describe('a request for the first rows', () => {
  it('has the arguments for as many rows as the offset and the limit say', () => {
    const request = { where: inSeven, orderBy: orderBy(['at'], ['id']), limit: 20 };
    expect(requested().of(request)).toEqual([{ projectID: '7', last: 20 }]);
    expect(orders.at(-1)!.map((each) => each.field)).toEqual(['at', 'id']);
    expect(requested().of({ ...request, offset: 20 })).toEqual([{ projectID: '7', last: 40 }]);
  });

  it('has them for each instance', () => {
    const where = or(inArray(projectID, ['7', '8']), eq('9', projectID));
    expect(
      requested()
        .of({ where, limit: 1 })
        .map(({ last }) => last),
    ).toEqual([1, 1, 1]);
  });

  it.each<[why: string, where: IR.BasicExpression<boolean>, order: IR.OrderBy]>([
    ['other conditions', and(inSeven, like(field('title'), 'A%')), orderBy(['at'])],
    ['a condition inside a field', and(inSeven, eq(field('projectID', 'x'), '7')), orderBy(['at'])],
    ['an order by a field of an object', inSeven, orderBy(['at', 'day'])],
  ])('needs all rows of the instance with %s', (_, where, order) => {
    expect(requested().of({ where, orderBy: order, limit: 20 })).toEqual([{ projectID: '7' }]);
  });
});

it('a request without a limit needs all rows of the instance', () => {
  expect(requested().of({ where: inSeven, orderBy: orderBy(['at']) })).toEqual([{ projectID: '7' }]);
});

it('without the option, a limit has no arguments', () => {
  const instances = new RequestedInstances('issue', ['projectID'], undefined);
  expect(instances.of({ where: inSeven, limit: 20 })).toEqual([{ projectID: '7' }]);
});

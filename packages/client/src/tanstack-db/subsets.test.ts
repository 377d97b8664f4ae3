import { and, eq, gt, IR, inArray, isNull, like, not, or } from '@tanstack/db';
import { describe, expect, it } from 'vitest';
import { instancesOf } from './subsets.js';

const field = <Value = string>(...path: string[]) => new IR.PropRef<Value>(path);
const projectID = field('projectID');
const state = field('state');
const title = field('title');

/** The arguments of the instances for a condition, as texts. */
const ofProject = (where?: IR.BasicExpression) =>
  instancesOf('issue', ['projectID'], where).map((args) => args.projectID);
const ofBoth = (where?: IR.BasicExpression) =>
  instancesOf('issue', ['projectID', 'state'], where).map((args) => `${args.projectID} ${args.state}`);

describe('the conditions of a query', () => {
  it('name an instance by an equality, whichever side the field is on', () => {
    expect(ofProject(eq(projectID, '7'))).toEqual(['7']);
    expect(ofProject(eq('7', projectID))).toEqual(['7']);
    expect(ofProject(eq(field<number>('projectID'), 7))).toEqual([7]);
    expect(ofProject(eq(field<boolean>('projectID'), false))).toEqual([false]);
  });

  it('name several instances by a list of values, each of them once', () => {
    expect(ofProject(inArray(projectID, ['7', '8', '7', null]))).toEqual(['7', '8']);
    expect(ofBoth(and(inArray(projectID, ['7', '8']), inArray(state, ['open', 'closed'])))).toEqual([
      '7 open',
      '7 closed',
      '8 open',
      '8 closed',
    ]);
  });

  it('name the instances of each alternative', () => {
    expect(ofProject(or(eq(projectID, '7'), eq(projectID, '8'), inArray(projectID, ['8', '9'])))).toEqual([
      '7',
      '8',
      '9',
    ]);
    const pairs = or(and(eq(projectID, '7'), eq(state, 'open')), and(eq(projectID, '8'), eq(state, 'closed')));
    expect(ofBoth(pairs)).toEqual(['7 open', '8 closed']);
    expect(ofBoth(and(eq(state, 'open'), or(eq(projectID, '7'), eq(projectID, '8'))))).toEqual(['7 open', '8 open']);
  });

  it('can select further from the rows of an instance', () => {
    const others = and(
      like(title, 'A%'),
      not(isNull(title)),
      or(eq(title, 'A'), gt(title, 'B')),
      not(eq(projectID, '8')),
    );
    expect(ofProject(and(eq(projectID, '7'), others))).toEqual(['7']);
    expect(ofProject(and(inArray(projectID, ['7', '8', '9']), inArray(projectID, ['8', '9', '10'])))).toEqual([
      '8',
      '9',
    ]);
  });

  it('need no instance if no row can meet them', () => {
    expect(ofProject(inArray(projectID, []))).toEqual([]);
    expect(ofProject(eq(projectID, null))).toEqual([]);
    expect(ofProject(and(eq(projectID, '7'), eq(projectID, '8')))).toEqual([]);
    expect(ofProject(new IR.Value(false))).toEqual([]);
    expect(ofProject(and(eq(projectID, '7'), new IR.Value(true)))).toEqual(['7']);
  });

  it.each<[why: string, where: IR.BasicExpression | undefined]>([
    ['there is no condition', undefined],
    ['the condition is about another field', eq(state, 'open')],
    ['the condition is not an equality', gt(projectID, '7')],
    ['the condition is negated', not(eq(projectID, '7'))],
    ['the field is inside another', eq(field('project', 'projectID'), '7')],
    ['the value is another field', eq(projectID, state)],
    ['an alternative leaves it open', or(eq(projectID, '7'), eq(state, 'open'))],
  ])('are refused if they leave an argument open because %s', (_, where) => {
    const error = {
      code: 'open-argument',
      message: expect.stringContaining('no condition for the argument "projectID"'),
    };
    expect(() => ofProject(where)).toThrow(expect.objectContaining(error));
  });

  it('are refused with the name of the argument that is open', () => {
    expect(() => ofBoth(eq(projectID, '7'))).toThrow('add where(({ issue }) => eq(issue.state, …))');
  });
});

/** The steps of a case: writes to the database, and requests of clients. */
import type { Choices } from './choices.js';
import { type Ddl, ddl } from './ddl.js';
import { writing } from './dml.js';
import { ordinaryDdl } from './ordinary-ddl.js';
import type { Schema } from './schema.js';
import { plans } from './shared.js';
import { type List, list } from './tree.js';

export type Step =
  /** On its own connection, which may continue a transaction of an earlier step. */
  | {
      readonly kind: 'transaction';
      readonly connection: number;
      readonly statements: List;
      readonly end: 'commit' | 'rollback' | 'open';
      /** The statements from this one on are rolled back before the end. */
      readonly undoneFrom?: number;
    }
  /** Transactions that are open at that time are committed before this statement of the pull, counted from 0. */
  | { readonly kind: 'pull'; readonly client: number; readonly server: number; readonly commitAt?: number }
  | ({ readonly kind: 'ddl' } & Ddl)
  /** From now on, the server pokes the client. */
  | { readonly kind: 'listen'; readonly client: number; readonly server: number }
  /** The servers poll for changes. Poked clients pull, until none is poked. */
  | { readonly kind: 'poll'; readonly commitAt?: number }
  /** From now on, the client wants the instances of these users. */
  | { readonly kind: 'want'; readonly client: number; readonly users: readonly number[] }
  /** Several cohorts read together and each alone, by statements that are planned in this way. */
  | { readonly kind: 'cohorts'; readonly plan: number };

export const clientCount = 3;
const serverCount = 2;
const connections = 3;
/** The maximum number of such reads. */
const maxCohortReads = 4;

export function createSteps(choices: Choices, schema: Schema): Step[] {
  const steps = choices.percent(30) ? stepsOfSubscribers(choices, schema) : stepsOfPulls(choices, schema);
  return withCohortReads(choices, steps);
}

function withCohortReads(choices: Choices, steps: readonly Step[]): Step[] {
  const writing = steps.filter(({ kind }) => kind === 'transaction');
  const followed = new Set(choices.some(writing, maxCohortReads, 2));
  return steps.flatMap((step) =>
    followed.has(step) ? [step, { kind: 'cohorts' as const, plan: choices.between(0, plans.length - 1) }] : [step],
  );
}

/** Every client pulls at the beginning and at the end. */
function stepsOfPulls(choices: Choices, schema: Schema): Step[] {
  const between = choices.times(8, 18, (): Step => {
    const kind = choices.weighted([
      [55, 'transaction'],
      [40, 'pull'],
      [4, 'ddl'],
    ]);
    if (kind === 'pull') return pullStep(choices);
    return kind === 'ddl' ? { kind, ...ddl(choices, schema) } : transaction(choices, schema);
  });
  return [...pullsOfAll(0), ...between, ...pullsOfAll(1, 0)];
}

/** All clients subscribe. Sometimes one pulls without a poke. */
function stepsOfSubscribers(choices: Choices, schema: Schema): Step[] {
  const listening = Array.from(
    { length: clientCount },
    (_, client): Step => ({ kind: 'listen', client, server: client % serverCount }),
  );
  const between = choices.times(6, 14, (): Step => {
    const kind = choices.weighted([
      [60, 'transaction'],
      [25, 'poll'],
      [15, 'pull'],
    ]);
    if (kind === 'pull') return pullStep(choices);
    return kind === 'poll' ? { kind, ...during(choices) } : transaction(choices, schema);
  });
  return [...listening, ...between, { kind: 'poll', commitAt: 0 }];
}

/** DDL as applications run it, each time followed by writes and pulls. */
export function createDdlSteps(choices: Choices, schema: Schema): Step[] {
  return choices
    .times(1, 3, (): Step[] => [
      { kind: 'ddl', ...ordinaryDdl(choices, schema) },
      ...choices.times(1, 2, () => transaction(choices, schema)),
      ...pullsOfAll(choices.between(0, serverCount - 1), 0),
    ])
    .flat();
}

function during(choices: Choices): { commitAt?: number } {
  return choices.percent(40) ? { commitAt: choices.between(0, 4) } : {};
}

function pullsOfAll(server: number, commitAt?: number): Step[] {
  return Array.from({ length: clientCount }, (_, client) => ({
    kind: 'pull',
    client,
    server,
    ...(commitAt !== undefined && { commitAt }),
  }));
}

function pullStep(choices: Choices): Step {
  return {
    kind: 'pull',
    client: choices.between(0, clientCount - 1),
    server: choices.between(0, serverCount - 1),
    ...during(choices),
  };
}

function transaction(choices: Choices, schema: Schema): Step {
  const end = choices.weighted<'commit' | 'rollback' | 'open'>([
    [65, 'commit'],
    [8, 'rollback'],
    [27, 'open'],
  ]);
  const connection = choices.between(0, connections - 1);
  const statements = choices.times(2, 6, () => writing(choices, schema, end !== 'open'));
  const undone = choices.percent(12) ? { undoneFrom: choices.between(0, statements.length - 1) } : {};
  return { kind: 'transaction', connection, statements: list(statements, { by: ';\n', after: ';\n' }), end, ...undone };
}

/** Describes a difference, with everything needed to reproduce it. */
import type { Case } from './case.js';
import type { Difference } from './difference.js';
import { optionsOf } from './shape.js';
import type { Step } from './steps.js';
import { textOf } from './tree.js';
import { type FuzzView, textOfView } from './view.js';

export function describeDifference(
  { setup, rows, views, steps, environment }: Case,
  { kind, message, view }: Difference,
): string {
  const concerned = view ? `of ${view.name}, ` : '';
  return [
    `-- ${kind}: ${concerned}as follows.`,
    textOf(setup).trimEnd(),
    textOf(rows).trimEnd(),
    Object.keys(environment).length === 0 ? '' : `-- in a database with ${JSON.stringify(environment)}`,
    ...views.map(describeView),
    ...steps.map(describeStep),
    ...message.split('\n').map((line) => `-- ${line}`),
  ]
    .filter((text) => text !== '')
    .join('\n');
}

function describeView(view: FuzzView): string {
  const { text, parameters } = textOfView(view);
  const key = view.key.map(({ name }) => JSON.stringify(name)).join(', ');
  const values = (user: number) => JSON.stringify(parameters.map((parameter) => parameter.values[user]));
  const parameterValues =
    parameters.length === 0 ? '' : `, for ${values(0)} (clients 0 and 1) and ${values(1)} (client 2)`;
  const shape =
    Object.keys(view.shape).length === 0 ? '' : `, with ${JSON.stringify({ ...view.shape, ...optionsOf(view) })}`;
  return `-- view ${view.name}, key ${key}${shape}${parameterValues}\n${text};`;
}

function describeStep(step: Step): string {
  if (step.kind === 'listen') return `-- client ${step.client} subscribes at server ${step.server}`;
  if (step.kind === 'poll') return `-- the servers poll for changes, and poked clients pull${during(step)}`;
  if (step.kind === 'pull') return `-- client ${step.client} pulls from server ${step.server}${during(step)}`;
  if (step.kind === 'want')
    return `-- client ${step.client} wants the instances of ${step.users.join(', ') || 'nobody'}`;
  if (step.kind === 'cohorts') return '-- the cohorts read, together and each alone';
  const text = textOf(step.statements).trimEnd();
  if (step.kind === 'ddl') return `-- DDL${step.needsMigrate ? ', and migrate' : ''}\n${text}`;
  const undone =
    step.undoneFrom === undefined ? '' : `; from statement ${step.undoneFrom} on, rolled back to a savepoint`;
  return `-- connection ${step.connection}\nbegin;\n${text}\n${step.end === 'open' ? '-- stays open' : `${step.end};`}${undone && ` -- ${undone}`}`;
}

function during({ commitAt }: { readonly commitAt?: number }): string {
  return commitAt === undefined ? '' : `, and what is open commits before statement ${commitAt} of that`;
}

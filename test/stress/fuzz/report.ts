/** A difference, with all that it takes to see it again. */
import type { Case } from './case.js';
import type { Difference } from './difference.js';
import { optionsOf } from './shape.js';
import type { Step } from './steps.js';
import { textOf } from './tree.js';
import { type FuzzView, textOfView } from './view.js';

export function describeDifference(
  { setup, rows, views, steps, surroundings }: Case,
  { kind, message, view }: Difference,
): string {
  const concerned = view ? `of ${view.name}, ` : '';
  return [
    `-- ${kind}: ${concerned}as follows.`,
    textOf(setup).trimEnd(),
    textOf(rows).trimEnd(),
    Object.keys(surroundings).length === 0 ? '' : `-- in a database with ${JSON.stringify(surroundings)}`,
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
  const given = parameters.length === 0 ? '' : `, for ${values(0)} (clients 0 and 1) and ${values(1)} (client 2)`;
  const shape =
    Object.keys(view.shape).length === 0 ? '' : `, with ${JSON.stringify({ ...view.shape, ...optionsOf(view) })}`;
  return `-- view ${view.name}, key ${key}${shape}${given}\n${text};`;
}

function describeStep(step: Step): string {
  if (step.kind === 'listen') return `-- client ${step.client} listens to server ${step.server}`;
  if (step.kind === 'look') return `-- the servers look for changes, and who is poked pulls${during(step)}`;
  if (step.kind === 'pull') return `-- client ${step.client} pulls from server ${step.server}${during(step)}`;
  if (step.kind === 'seats') return '-- the seats ask, together and each alone';
  const text = textOf(step.statements).trimEnd();
  if (step.kind === 'ddl') return `-- DDL${step.needsMigrate ? ', and migrate' : ''}\n${text}`;
  const undone =
    step.undoneFrom === undefined ? '' : `; from statement ${step.undoneFrom} on, rolled back to a savepoint`;
  return `-- connection ${step.connection}\nbegin;\n${text}\n${step.end === 'open' ? '-- stays open' : `${step.end};`}${undone && ` -- ${undone}`}`;
}

function during({ commitAt }: { readonly commitAt?: number }): string {
  return commitAt === undefined ? '' : `, and what is open commits before statement ${commitAt} of that`;
}

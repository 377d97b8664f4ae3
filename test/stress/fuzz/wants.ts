/** Views whose parameters come from arguments, and the instances of them that clients want. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Choices } from './choices.js';
import type { Step } from './steps.js';
import { type FuzzView, textOfView } from './view.js';

/** The arguments of an instance: the user whose values its parameters have. */
export interface InstanceArgs {
  readonly user: number;
}

/** True if the view has arguments in a case with instances. */
export function takesArgs(view: FuzzView): boolean {
  return textOfView(view).parameters.length > 0;
}

/** The options of `defineView` of a view with arguments. */
export const argsOptions = {
  args: { '~standard': { version: 1, vendor: 'fuzz', validate: (value) => ({ value }) } } as StandardSchemaV1<
    InstanceArgs,
    InstanceArgs
  >,
  sampleArgs: { user: 0 },
};

/** The wanted instances of all views with arguments, as a request names them. */
export function wantsOf(views: readonly FuzzView[], users: readonly number[]) {
  return views.filter(takesArgs).flatMap(({ name }) => users.map((user) => ({ view: name, args: { user } })));
}

const wantedUsers: readonly (readonly number[])[] = [[0], [1], [0, 1], [0, 1], []];

/** Before some pulls, the client wants other instances. */
export function withWants(choices: Choices, steps: readonly Step[], clientCount: number): Step[] {
  return steps.flatMap((step): Step[] => {
    if (!choices.percent(step.kind === 'pull' ? 45 : 8)) return [step];
    const client = step.kind === 'pull' ? step.client : choices.between(0, clientCount - 1);
    return [{ kind: 'want', client, users: choices.pick(wantedUsers) }, step];
  });
}

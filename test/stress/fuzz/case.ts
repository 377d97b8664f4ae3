/** A case: a schema, its views, and a list of steps. fast-check generates and shrinks it. */
import fc, { type Random } from 'fast-check';
import { Choices } from './choices.js';
import { createMembershipView } from './memberships.js';
import { createSchema } from './schema.js';
import { type Edit, shorter, tagsOf, treeEdits, withoutTag } from './shrink-tree.js';
import { clientCount, createDdlSteps, createSteps, type Step } from './steps.js';
import { createEnvironment, type Environment } from './surroundings.js';
import type { List } from './tree.js';
import { createRepeatedView, createView, type FuzzView, viewWithout } from './view.js';
import { withWants } from './wants.js';

export interface Case {
  readonly setup: List;
  readonly rows: List;
  readonly views: readonly FuzzView[];
  readonly steps: readonly Step[];
  readonly environment: Environment;
}

export interface CaseOptions {
  /** The major version of Postgres. */
  readonly version: number;
  /** The number of views to try. Postgres refuses about a third of them. */
  readonly views: number;
  /** True if clients want instances in every case, false if in none. Default: in some. */
  readonly instances?: boolean | undefined;
}

class CaseArbitrary extends fc.Arbitrary<Case> {
  readonly #options: CaseOptions;

  constructor(options: CaseOptions) {
    super();
    this.#options = options;
  }

  override generate(random: Random): fc.Value<Case> {
    const choices = new Choices(random);
    const { version, views } = this.#options;
    const schema = createSchema(choices, version);
    const made = Array.from({ length: views }, (_, i) => createView(choices, schema, version, `v${i}`));
    const { setup, rows } = schema;
    const steps = createSteps(choices, schema);
    const members = choices.times(1, 2, (i) => createMembershipView(choices, schema, `m${i}`) ?? []).flat();
    // Chosen last, so that a seed gives the same case with and without them.
    const environment = createEnvironment(choices);
    const repeated = choices.percent(50) ? createRepeatedView(choices, schema, version, 'r') : undefined;
    const last = choices.percent(50) ? createDdlSteps(choices, schema) : [];
    const allSteps = [...steps, ...last];
    const hasInstances = this.#options.instances ?? choices.percent(40);
    return new fc.Value(
      {
        setup,
        rows,
        views: [...(repeated ? [repeated] : []), ...members, ...made],
        steps: hasInstances ? withWants(choices, allSteps, clientCount) : allSteps,
        environment: { ...environment, ...(hasInstances && { hasInstances: true as const }) },
      },
      start,
    );
  }

  override canShrinkWithoutContext(_: unknown): _ is Case {
    return false;
  }

  /** @param from Where to continue. The edits before it were tried on the case that this one was shrunk from. */
  override shrink(value: Case, from: ShrinkPosition): fc.Stream<fc.Value<Case>> {
    return fc.stream(smaller(value, from));
  }
}

export function cases(options: CaseOptions): fc.Arbitrary<Case> {
  return new CaseArbitrary(options);
}

interface ShrinkPosition {
  readonly phase: number;
  readonly edit: number;
}

const start: ShrinkPosition = { phase: 0, edit: 0 };

/** Each edit once, starting at the last one that preserved the difference. */
function* smaller(value: Case, from: ShrinkPosition): Generator<fc.Value<Case>> {
  for (let i = 0; i <= phases.length; i++) {
    const phase = (from.phase + i) % phases.length;
    const edits = [...phases[phase]!(value)];
    const first = i === 0 ? from.edit : 0;
    const last = i === phases.length ? from.edit : edits.length;
    for (let edit = first; edit < Math.min(last, edits.length); edit++) {
      yield new fc.Value(edits[edit]!(), { phase, edit });
    }
  }
}

type Phase = (value: Case) => Generator<Edit<Case>>;

/** The phases that remove the most come first. */
const phases: readonly Phase[] = [
  function* (value) {
    const { views } = value;
    if (views.length > 1) for (const view of views) yield () => ({ ...value, views: [view] });
  },
  function* (value) {
    for (const name of Object.keys(value.environment) as (keyof Environment)[]) {
      const { [name]: _, ...environment } = value.environment;
      yield () => ({ ...value, environment });
    }
  },
  function* (value) {
    for (const steps of shorter(value.steps)) yield () => ({ ...value, steps });
  },
  function* (value) {
    const { views } = value;
    for (const fewer of shorter(views)) if (fewer.length > 0) yield () => ({ ...value, views: fewer });
    for (const [i, view] of views.entries()) {
      for (const edit of treeEdits(view.tree)) {
        yield () => ({ ...value, views: views.with(i, { ...view, tree: edit() }) });
      }
    }
  },
  function* (value) {
    const { views } = value;
    for (const [i, view] of views.entries()) {
      if (Object.keys(view.shape).length > 0) yield () => ({ ...value, views: views.with(i, { ...view, shape: {} }) });
    }
  },
  function* (value) {
    for (const [i, step] of value.steps.entries()) {
      yield* stepEdits(step, (made) => ({ ...value, steps: value.steps.with(i, made) }));
    }
  },
  function* (value) {
    const tags = new Set([value.setup, value.rows, ...value.views.map(({ tree }) => tree)].flatMap(tagsOf));
    for (const tag of tags) if (tag !== '') yield () => without(value, tag);
  },
  function* (value) {
    for (const edit of treeEdits(value.setup)) yield () => ({ ...value, setup: edit() as List });
    for (const edit of treeEdits(value.rows)) yield () => ({ ...value, rows: edit() as List });
  },
];

function* stepEdits(step: Step, put: (step: Step) => Case): Generator<Edit<Case>> {
  if (step.kind === 'cohorts') {
    if (step.plan !== 0) yield () => put({ ...step, plan: 0 });
    return;
  }
  if (step.kind === 'poll' || step.kind === 'pull') {
    const { commitAt, ...plain } = step;
    if (commitAt !== undefined) yield () => put(plain);
  }
  if (step.kind === 'poll') return;
  if (step.kind === 'want') {
    for (const users of shorter(step.users)) yield () => put({ ...step, users });
    return;
  }
  if (step.kind === 'pull' || step.kind === 'listen') {
    if (step.client !== 0) yield () => put({ ...step, client: 0 });
    if (step.server !== 0) yield () => put({ ...step, server: 0 });
    return;
  }
  if (step.kind === 'transaction') {
    const { undoneFrom, ...plain } = step;
    if (undoneFrom !== undefined) yield () => put(plain);
    if (step.end === 'open') yield () => put({ ...step, end: 'commit' });
    if (step.connection !== 0) yield () => put({ ...step, connection: 0 });
  }
  for (const edit of treeEdits(step.statements)) yield () => put({ ...step, statements: edit() as List });
}

function without({ setup, rows, views, steps, environment }: Case, tag: string): Case {
  return {
    environment,
    setup: withoutTag(setup, tag) as List,
    rows: withoutTag(rows, tag) as List,
    views: views.map((view) => viewWithout(view, tag)),
    steps: steps.map((step) =>
      'statements' in step ? { ...step, statements: withoutTag(step.statements, tag) as List } : step,
    ),
  };
}

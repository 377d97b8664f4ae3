/** A case: a schema, views of it, and what happens. fast-check makes it and makes it smaller. */
import fc, { type Random } from 'fast-check';
import { Choices } from './choices.js';
import { createSchema } from './schema.js';
import { type Edit, shorter, tagsOf, treeEdits, withoutTag } from './shrink-tree.js';
import { createSteps, type Step } from './steps.js';
import type { List } from './tree.js';
import { createView, type FuzzView, viewWithout } from './view.js';

export interface Case {
  readonly setup: List;
  readonly rows: List;
  readonly views: readonly FuzzView[];
  readonly steps: readonly Step[];
}

export interface CaseOptions {
  /** Of Postgres. */
  readonly version: number;
  /** How many views are tried; Postgres refuses about a third. */
  readonly views: number;
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
    return new fc.Value({ setup, rows, views: made, steps: createSteps(choices, schema) }, 0);
  }

  override canShrinkWithoutContext(_: unknown): _ is Case {
    return false;
  }

  /** @param from the edit to begin with: those before it were tried on what this was made of */
  override shrink(value: Case, from: number): fc.Stream<fc.Value<Case>> {
    return fc.stream(smaller(value, from));
  }
}

export function cases(options: CaseOptions): fc.Arbitrary<Case> {
  return new CaseArbitrary(options);
}

function* smaller(value: Case, from: number): Generator<fc.Value<Case>> {
  const edits = [...caseEdits(value)];
  for (let i = 0; i < edits.length; i++) {
    const at = (from + i) % edits.length;
    yield new fc.Value(edits[at]!(), at);
  }
}

/** What takes the most away comes first. */
function* caseEdits(value: Case): Generator<Edit<Case>> {
  const { setup, rows, views, steps } = value;
  if (views.length > 1) for (const view of views) yield () => ({ ...value, views: [view] });
  for (const kept of shorter(views))
    if (kept.length > 0 && kept.length < views.length) yield () => ({ ...value, views: kept });
  for (const kept of shorter(steps)) yield () => ({ ...value, steps: kept });
  for (const [i, view] of views.entries()) {
    for (const edit of treeEdits(view.tree))
      yield () => ({ ...value, views: views.with(i, { ...view, tree: edit() }) });
  }
  for (const [i, step] of steps.entries()) yield* stepEdits(step, (made) => ({ ...value, steps: steps.with(i, made) }));
  const tags = new Set([setup, rows, ...views.map(({ tree }) => tree)].flatMap(tagsOf));
  for (const tag of tags) if (tag !== '') yield () => without(value, tag);
  for (const edit of treeEdits(setup)) yield () => ({ ...value, setup: edit() as List });
  for (const edit of treeEdits(rows)) yield () => ({ ...value, rows: edit() as List });
}

function* stepEdits(step: Step, put: (step: Step) => Case): Generator<Edit<Case>> {
  if (step.kind === 'pull') {
    const { commitAt, ...plain } = step;
    if (commitAt !== undefined) yield () => put(plain);
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

function without({ setup, rows, views, steps }: Case, tag: string): Case {
  return {
    setup: withoutTag(setup, tag) as List,
    rows: withoutTag(rows, tag) as List,
    views: views.map((view) => viewWithout(view, tag)),
    steps: steps.map((step) =>
      step.kind === 'pull' ? step : { ...step, statements: withoutTag(step.statements, tag) as List },
    ),
  };
}

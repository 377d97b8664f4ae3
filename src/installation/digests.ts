/** Digests of what a user sees. Pure. */
import { digest } from '../protocol/cookie.js';
import { sealParameters, type ViewTexts } from '../protocol/parameters.js';
import type { BoundView } from '../view/client-views.js';
import type { Installation } from './installation.js';

/** What the views of a user are told from others by. */
export interface Digests {
  /** Identifies the user, the views with their parameters, and the shape of the tables. */
  readonly viewsDigest: string;
  /**
   * The same in parts, for cookies of the second form: a digest of the user, one of all parameters, and then a
   * `viewDigest` of each view, in their order; joined with dots.
   */
  readonly viewDigests: string;
  /** The parameters, for cookies of the second form; see `sealParameters`. */
  readonly parameters: string | undefined;
  /** Identifies the views without their parameters, and the shape of the tables. */
  readonly formDigest: string;
}

/** The length of a part of `viewDigests`: 72 bits. */
const partLength = 12;

export function digestsOf(
  userID: string,
  { shape, tables, secrets }: Installation,
  views: readonly BoundView[],
): Digests {
  const literals = views.flatMap((bound) => bound.literals);
  const parts = [part([userID]), part(literals), ...views.map((bound) => viewDigest(bound, tables))];
  return {
    viewsDigest: digest([shape, userID, ...views.flatMap(({ view, literals }) => [view.digest, ...literals])]),
    viewDigests: parts.join('.'),
    parameters: sealParameters(textsOf(views), userID, secrets),
    formDigest: digest([shape, ...views.map(({ view }) => view.digest)]),
  };
}

/** Identifies a view without its parameters, and the shape of its tables. */
export function viewDigest(
  { view, tables }: Pick<BoundView, 'view' | 'tables'>,
  shaped: Installation['tables'],
): string {
  const shapes = new Map(shaped.map(({ oid, shape }) => [oid, shape]));
  return part([view.digest, JSON.stringify(tables.map(({ oid }) => shapes.get(oid))), ...view.parameterTypes]);
}

/** The parameters of views. */
export function textsOf(views: readonly BoundView[]): ViewTexts {
  return views.map(({ texts }) => texts);
}

function part(texts: readonly string[]): string {
  return digest(texts).slice(0, partLength);
}

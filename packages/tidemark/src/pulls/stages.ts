/** The stages of a first sync. Pure. */
import type { ResolvedViews } from '../schema/schema-cache.js';

/** The views of one stage and of those before it, and the names of the views of later stages. */
export interface Stage {
  readonly names: ReadonlySet<string>;
  readonly laterViews: readonly string[];
}

/**
 * Returns the stage that a client receives next; undefined if it receives all views. That is the stage of the first
 * view that it does not have, with all views that it does have, whatever their stages.
 * @param cookieViews the field `views` of the cookie; undefined without a cookie
 */
export function nextStage(
  { views, viewDigests }: Pick<ResolvedViews, 'views' | 'viewDigests'>,
  cookieViews: string | undefined,
): Stage | undefined {
  const known = new Set(cookieViews?.split('.').slice(2));
  const [, , ...digests] = viewDigests.split('.');
  const missing = views.filter((_, i) => !known.has(digests[i]!));
  const stage = Math.min(...missing.map(({ priority }) => priority));
  const later = missing.filter(({ priority }) => priority > stage).map(({ view }) => view.name);
  if (later.length === 0) return undefined;
  const names = views.map(({ view }) => view.name).filter((name) => !later.includes(name));
  return { names: new Set(names), laterViews: later };
}

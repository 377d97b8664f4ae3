/** Tells the users of one tenant apart from those of others, in a database that several may share. */
import type { UserContext } from '../context.js';
import { checkContext, isUserID } from '../http/identify.js';
import { defineMutators } from '../registry/mutators.js';
import { toMutators } from '../registry/registry.js';
import type { StartedSync } from '../server.js';
import type { SyncOptions } from '../sync-options.js';
import type { View, ViewInput, Views } from '../view/define.js';

/**
 * What stands before the IDs of a tenant's users in Tidemark's records, by default. It ends with its only slash: that of
 * one tenant is never the beginning of another's.
 */
export function usualPrefix(tenant: string): string {
  return `${encodeURIComponent(tenant)}/`;
}

/**
 * Records users under their IDs with a prefix. The application does not notice: its views, mutators and functions get
 * the contexts that it has returned.
 */
export class OwnUsers<Context extends UserContext> {
  readonly #prefix: string;
  /** By what stands for it in the rest of Tidemark. */
  readonly #given = new WeakMap<Context, Context>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The options of a sync that knows users under their recorded IDs. */
  options<Tx>(options: SyncOptions<Context, Tx>): SyncOptions<Context, Tx> {
    const { authenticate, mutators = defineMutators({}), validators, onRefused } = options;
    const ran = [...toMutators(mutators, validators)].map(
      ([name, { run, ...mutator }]) =>
        [
          name,
          { ...mutator, run: (call: Parameters<typeof run>[0]) => run({ ...call, ctx: this.#givenOf(call.ctx) }) },
        ] as const,
    );
    return {
      ...options,
      views: this.#views(options.views),
      mutators: new Map(ran),
      validators: undefined,
      authenticate: async (request) => this.#recorded(await authenticate(request)),
      onRefused: onRefused && ((refused) => onRefused({ ...refused, context: this.#givenOf(refused.context) })),
    };
  }

  /** The same sync, for contexts as the application has them. */
  sync(sync: StartedSync<Context>): StartedSync<Context> {
    return {
      ...sync,
      pull: async (request, ctx, env) => sync.pull(request, this.#recorded(ctx), env),
      push: async (request, ctx, env) => sync.push(request, this.#recorded(ctx), env),
      poke: async (request, ctx, env) => sync.poke(request, this.#recorded(ctx), env),
      onPoke: async (ctx, ...hook) => sync.onPoke(this.#record(ctx), ...hook),
      // What is no ID stays none, to be refused.
      disconnect: (userID) => sync.disconnect(isUserID(userID) ? this.#prefix + userID : userID),
    };
  }

  #views(views: Views<Context>): Views<Context> {
    const given = (input: ViewInput<Context>) => ({ ...input, ctx: this.#givenOf(input.ctx) });
    const viewOf = ({ query, prefix, ...view }: View<Context>): View<Context> => ({
      ...view,
      query: (input) => query(given(input)),
      prefix: typeof prefix === 'function' ? (input) => prefix(given(input)) : prefix,
    });
    return Object.fromEntries(Object.entries(views).map(([name, view]) => [name, viewOf(view)]));
  }

  /** An ID that nobody can have stays as it is, to be refused. */
  #recorded(ctx: Context | null): Context | null {
    return ctx && isUserID(ctx.userID) ? this.#record(ctx) : ctx;
  }

  #record(ctx: Context): Context {
    checkContext(ctx);
    const recorded = { ...ctx, userID: this.#prefix + ctx.userID };
    this.#given.set(recorded, ctx);
    return recorded;
  }

  /** The sample context stands for itself. */
  #givenOf(ctx: Context): Context {
    return this.#given.get(ctx) ?? ctx;
  }
}

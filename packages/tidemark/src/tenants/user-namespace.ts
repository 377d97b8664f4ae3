/** Separates the users of tenants that share a database. */
import type { UserContext } from '../context.js';
import { checkContext, isUserID } from '../http/identify.js';
import { defineMutators } from '../registry/mutators.js';
import { toMutators } from '../registry/registry.js';
import type { StartedSync } from '../server.js';
import type { SyncOptions } from '../sync-options.js';
import type { QueryInput, View, ViewInput, Views } from '../view/define.js';

/**
 * Returns the default prefix of a tenant's user IDs in Tidemark's records. It ends with its only slash, so that no
 * tenant's prefix begins with another's.
 */
export function defaultUserPrefix(tenant: string): string {
  return `${encodeURIComponent(tenant)}/`;
}

/**
 * Adds a prefix to user IDs in Tidemark's records. This is transparent to the application: its views, mutators and
 * functions receive the contexts that it returned.
 */
export class UserNamespace<Context extends UserContext> {
  readonly #prefix: string;
  /** The application's contexts, by the contexts with prefixed user IDs that replace them. */
  readonly #originals = new WeakMap<Context, Context>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Returns the options of a sync that works with prefixed user IDs. */
  wrapOptions<Tx>(options: SyncOptions<Context, Tx>): SyncOptions<Context, Tx> {
    const { authenticate, mutators = defineMutators({}), validators, onRefused } = options;
    const mutatorEntries = [...toMutators(mutators, validators)].map(
      ([name, { run, ...mutator }]) =>
        [
          name,
          { ...mutator, run: (call: Parameters<typeof run>[0]) => run({ ...call, ctx: this.#originalOf(call.ctx) }) },
        ] as const,
    );
    return {
      ...options,
      views: this.#views(options.views),
      mutators: new Map(mutatorEntries),
      validators: undefined,
      authenticate: async (request) => this.#withPrefixIfValid(await authenticate(request)),
      onRefused: onRefused && ((refused) => onRefused({ ...refused, context: this.#originalOf(refused.context) })),
    };
  }

  /** Wraps a sync so that it takes the application's contexts. */
  wrapSync(sync: StartedSync<Context>): StartedSync<Context> {
    return {
      ...sync,
      pull: async (request, ctx, env) => sync.pull(request, this.#withPrefixIfValid(ctx), env),
      push: async (request, ctx, env) => sync.push(request, this.#withPrefixIfValid(ctx), env),
      poke: async (request, ctx, env) => sync.poke(request, this.#withPrefixIfValid(ctx), env),
      onPoke: async (ctx, ...hook) => sync.onPoke(this.#withPrefix(ctx), ...hook),
      as: (ctx) => sync.as(this.#withPrefix(ctx)),
      // An invalid ID stays unchanged, so that it is refused.
      disconnect: (userID) => sync.disconnect(isUserID(userID) ? this.#prefix + userID : userID),
    };
  }

  #views(views: Views<Context>): Views<Context> {
    const withOriginal = <Input extends ViewInput<Context>>(input: Input) => ({
      ...input,
      ctx: this.#originalOf(input.ctx),
    });
    const viewOf = ({ query, prefix, ...view }: View<Context>): View<Context> => ({
      ...view,
      query: (input: QueryInput<Context, never>) => query(withOriginal(input)),
      prefix: typeof prefix === 'function' ? (input) => prefix(withOriginal(input)) : prefix,
    });
    return Object.fromEntries(Object.entries(views).map(([name, view]) => [name, viewOf(view)]));
  }

  /** Returns a context with an invalid user ID unchanged, so that it is refused. */
  #withPrefixIfValid(ctx: Context | null): Context | null {
    return ctx && isUserID(ctx.userID) ? this.#withPrefix(ctx) : ctx;
  }

  #withPrefix(ctx: Context): Context {
    checkContext(ctx);
    // With its prototype, because a context may have more state than its fields.
    const prefixed = Object.assign(Object.create(Object.getPrototypeOf(ctx)) as Context, ctx);
    Object.assign(prefixed, { userID: this.#prefix + ctx.userID });
    this.#originals.set(prefixed, ctx);
    return prefixed;
  }

  /** Returns the application's context. The sample context is its own original. */
  #originalOf(ctx: Context): Context {
    return this.#originals.get(ctx) ?? ctx;
  }
}

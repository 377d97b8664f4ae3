import type { UserContext } from './context.js';
import type { TypedSync } from './server.js';
import { accessThrough } from './user-access.js';
import type { Views } from './view/define.js';

/**
 * Returns a sync that starts at its first use. For hosts that load the application's modules before it serves, for
 * example during a build, or whose modules cannot use top-level `await`. All methods but `drain` and `close` start the
 * sync; the access that `as` returns does when it is used. If `start` throws, they reject with its error, and the next
 * use tries again.
 *
 * @param start usually calls `createSync`
 */
export function lazySync<
  Context extends UserContext = UserContext,
  Registered extends object = object,
  Defined extends Views<never> = Views<never>,
>(start: () => Promise<TypedSync<Context, Registered, Defined>>): TypedSync<Context, Registered, Defined> {
  let starting: Promise<TypedSync<Context, Registered, Defined>> | undefined;
  let isStopping = false;
  const begin = async () => {
    if (isStopping) throw new Error('The server is stopping');
    return start();
  };
  const started = (): Promise<TypedSync<Context, Registered, Defined>> => {
    starting ??= begin().catch((error: unknown) => {
      starting = undefined;
      throw error;
    });
    return starting;
  };
  return {
    fetch: async (...args) => (await started()).fetch(...args),
    pull: async (...args) => (await started()).pull(...args),
    push: async (...args) => (await started()).push(...args),
    poke: async (...args) => (await started()).poke(...args),
    onPoke: async (...args) => (await started()).onPoke(...args),
    as: (ctx) => accessThrough(ctx, async (work) => work((await started()).as(ctx))),
    disconnect: async (...args) => (await started()).disconnect(...args),
    ready: async () => (await started()).ready(),
    drain() {
      isStopping = true;
      // A sync that failed to start has nothing to drain.
      starting?.then((sync) => sync.drain()).catch(() => {});
    },
    async close() {
      isStopping = true;
      // A sync that failed to start has nothing to close.
      const sync = await starting?.catch(() => undefined);
      await sync?.close();
    },
  };
}

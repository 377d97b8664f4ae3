import { createSync } from 'tidemark';
import { jwtAuth, sessionAuth, withCORS } from 'tidemark/auth';
import type { AppContext } from './app.js';

const database = 'postgres://';
const views = {};
const key = { secret: '' };
const algorithms = ['HS256'] as const;
const ann: AppContext = { userID: 'ann', roles: [] };

const sync = await createSync({ database, views, authenticate: jwtAuth({ key, algorithms }) });
export const fetch: typeof sync.fetch = withCORS(sync.fetch, { origins: [], credentials: undefined });

jwtAuth<AppContext>({ key, algorithms, context: ({ sub }) => (sub ? { ...ann, userID: sub } : null) });
jwtAuth({ key, algorithms, context: async () => ann, anonymous: () => ann });
jwtAuth({ key, algorithms, anonymous: () => ({ userID: 'anonymous' }) });
jwtAuth({ key, algorithms, anonymous: async () => ({ userID: 'anonymous' }) });
sessionAuth({ cookie: 'sid', session: () => ann, anonymous: async () => null });
// @ts-expect-error By default, a token's context has only the user ID.
jwtAuth<AppContext>({ key, algorithms });
// @ts-expect-error By default, an anonymous context has only the user ID, too.
jwtAuth({ key, algorithms, anonymous: () => ann });
// @ts-expect-error There is no such algorithm here.
jwtAuth({ key, algorithms: ['none'] });
// @ts-expect-error The algorithms are missing.
jwtAuth({ key });
jwtAuth({
  key,
  algorithms,
  context: (claims) => {
    // @ts-expect-error The claims are read-only.
    claims.sub = 'ben';
    return ann;
  },
});

sessionAuth<AppContext>({ cookie: 'sid', session: async (token) => (token === 'a' ? ann : null) });
// @ts-expect-error The session's context is not an `AppContext`.
sessionAuth<AppContext>({ cookie: 'sid', session: () => ({ userID: 'ann' }) });

// Options without a value can be passed as undefined.
jwtAuth({ key, algorithms, issuer: undefined, audience: undefined, clockToleranceSeconds: undefined });
jwtAuth({ key, algorithms, context: undefined, anonymous: undefined });
sessionAuth({ cookie: 'sid', session: () => ann, origins: undefined, anonymous: undefined });

import type { Fault } from '../fault.js';

const store = 'src/store/refusals.ts';
const once = 'src/writes/apply-once.ts';
const told = 'src/writes/refused-mutations.ts';
const writes = ['test/writes/refused-mutations.test.ts'];
const clients = ['test/conformance/refused-mutations.test.ts'];

export const refusing: readonly Fault[] = [
  {
    name: 'a refusal is recorded whether or not the mutation is skipped',
    file: once,
    find: 'last(...journal.keep(origin, [entry]), keepRefusal({ userID: context.userID, profileID, ...ref }, refusal));',
    replace: `const { text, values } = keepRefusal({ userID: context.userID, profileID, ...ref }, refusal);
    await db.query({ text, values });
    last(...journal.keep(origin, [entry]));`,
    tests: writes,
  },
  {
    name: 'the hook is told of mutations that another server has skipped',
    file: once,
    find: 'if (!claimed) return false;',
    replace: '',
    tests: writes,
  },
  {
    name: 'a client is told what broke the mutator',
    file: 'src/writes/call-failures.ts',
    find: "return failure.code === 'mutator-error' ? String(failure.refusal.message) : undefined;",
    replace: 'return (error as Error).message;',
    tests: writes,
  },
  {
    name: 'a text that cannot be stored holds up its client',
    file: told,
    find: ".replaceAll('\\0', '\\ufffd')",
    replace: '',
    tests: writes,
  },
  {
    name: 'clients are told the names that callers have made up',
    file: told,
    find: "code === 'unknown-mutator' ? null : name",
    replace: 'name',
    tests: writes,
  },
  {
    name: 'a text of any length is kept',
    file: told,
    find: '.slice(0, longestDetail)',
    replace: '',
    tests: writes,
  },
  {
    name: 'one refusal more than a hundred is kept',
    file: store,
    find: `offset \${most - 1}`,
    replace: `offset \${most}`,
    tests: writes,
  },
  {
    name: 'a refusal of one profile replaces those of others',
    file: store,
    find: 'where user_id = $1 and profile_id = $2 and (client_id',
    replace: "where ($1 || $2) <> '' and (client_id",
    tests: writes,
  },
  {
    name: 'every profile of a user is told',
    file: store,
    find: 'from tidemark.refusal where user_id = $1 and profile_id = $2`;',
    replace: 'from tidemark.refusal where user_id = $1 and $2::text is not null`;',
    tests: clients,
  },
  {
    name: 'every user is told',
    file: store,
    find: 'from tidemark.refusal where user_id = $1 and profile_id = $2`;',
    replace: 'from tidemark.refusal where $1::text is not null and profile_id = $2`;',
    tests: clients,
  },
  {
    name: 'refusals are kept for ever',
    file: 'src/store/upkeep.ts',
    find: 'await pruneRefusals(db);',
    replace: '',
    tests: ['test/store/upkeep.test.ts'],
  },
  {
    name: 'clients that do not ask are told',
    file: 'src/installation/current-installation.ts',
    find: 'refused ? refusedViews : undefined',
    replace: 'refused !== false ? refusedViews : undefined',
    tests: clients,
  },
  {
    name: 'the application’s views may have the keys of refusals',
    file: 'src/view/client-views.ts',
    find: 'new KeySpace(this.#views, own)',
    replace: 'new KeySpace(this.#views)',
    tests: clients,
  },
  {
    name: 'the application’s views may begin as Tidemark’s do',
    file: 'src/view/keys/key-space.ts',
    find: 'checkNotReserved(one);',
    replace: '',
    tests: clients,
  },
  {
    name: 'only the group that sent a mutation is poked about its refusal',
    file: 'src/pokes/tail.ts',
    find: 'bind({ ctx, ...asked }, part)',
    replace: 'bind({ ctx, ...asked, refused: false }, part)',
    tests: ['test/pokes/refused-mutations.test.ts'],
  },
  {
    name: 'a server starts although it can skip no mutation',
    file: store,
    find: 'if (row!.mayKeep) return;',
    replace: 'return;',
    tests: ['test/installation/roles.test.ts'],
  },
  {
    name: 'refusals are not captured',
    file: 'src/migrate.ts',
    find: 'tables.set(refusals.oid, refusals)',
    replace: 'tables',
    tests: ['test/installation/migrate.test.ts'],
  },
];

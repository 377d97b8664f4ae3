import type { Fault } from '../fault.js';

const file = 'src/writes/push.ts';
const groups = 'src/store/client-groups.ts';
const tests = ['test/writes/push.test.ts'];
const failures = ['test/writes/push-failures.test.ts'];

export const pushing: readonly Fault[] = [
  {
    name: 'anybody may push to a client group that is known',
    file,
    find: 'if (owner !== null && owner !== userID) throw foreignGroup();',
    replace: '',
    tests,
  },
  {
    name: 'whoever loses the race for a client group may push to it',
    file,
    find: 'if ((await registerGroup(db, clientGroupID, userID)) !== userID) throw foreignGroup();',
    replace: 'await registerGroup(db, clientGroupID, userID);',
    tests,
  },
  {
    name: 'whoever registers a client group last owns it',
    file: groups,
    find: 'values ($1, $2) on conflict (id) do nothing',
    replace: 'values ($1, $2) on conflict (id) do update set user_id = excluded.user_id',
    tests,
  },
  {
    name: 'what another group’s client has applied counts as applied',
    file,
    find: 'if (before?.clientGroupID === clientGroupID && mutationID <= before.lastMutationID) continue;',
    replace: 'if (before && mutationID <= before.lastMutationID) continue;',
    tests,
  },
  {
    name: 'a client of another group is no obstacle',
    file,
    find: 'if (after.clientGroupID !== clientGroupID) throw foreignClient();',
    replace: '',
    tests,
  },
  {
    name: 'a mutation of a client of another group is claimed',
    file: groups,
    find: 'where id = $1 and client_group_id = $2 and last',
    replace: 'where id = $1 and $2::text is not null and last',
    tests,
  },
  {
    name: 'a gap is passed over',
    file,
    find: 'if (after.lastMutationID < mutationID) throw gap(mutation, after);',
    replace: '',
    tests,
  },
  {
    name: 'mutations are claimed in any order',
    file: groups,
    find: ' and last_mutation_id = $3::bigint - 1`',
    replace: ' and last_mutation_id < $3::bigint`',
    tests,
  },
  {
    name: 'a first mutation that comes again begins anew',
    file: groups,
    find: 'on conflict (id) do nothing`,',
    replace: 'on conflict (id) do update set last_mutation_id = 1`,',
    tests,
  },
  {
    name: 'mutations run without being claimed',
    file,
    find: 'ctx: context }), claim),',
    replace: 'ctx: context })),',
    tests,
  },
  {
    name: 'a mutation is claimed in a transaction of its own',
    file,
    find: 'ctx: context }), claim),',
    replace: 'ctx: context }), () => db.transact(claim)),',
    tests: ['test/writes/push-failures.test.ts'],
  },
  {
    name: 'the record keeps the transaction of the first mutation',
    file: groups,
    find: 'set last_mutation_id = $3, xid = pg_current_xact_id()',
    replace: 'set last_mutation_id = $3',
    tests,
  },
  {
    name: 'a group that the database has lost is recorded anew',
    file,
    find: "if (first.id > 1 && !clients.has(first.clientID)) return { error: 'ClientStateNotFound' };",
    replace: '',
    tests,
  },
  {
    name: 'a mutation that fails for good is not skipped',
    file,
    find: 'const done = await db.transact(claim);',
    replace: 'const done = { record: undefined };',
    tests: failures,
  },
  {
    name: 'a mutation is skipped because its validator could not ask the database',
    file,
    find: '      if (isTransient(error)) throw error;\n',
    replace: '',
    tests: failures,
  },
  {
    name: 'every schema version is served',
    file,
    find: '!schemaVersions.includes(schemaVersion)',
    replace: 'schemaVersions.includes("")',
    tests,
  },
];

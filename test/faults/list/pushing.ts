import type { Fault } from '../fault.js';

const file = 'src/writes/push.ts';
const group = 'src/writes/pushed-group.ts';
const once = 'src/writes/apply-once.ts';
const together = 'src/writes/apply-together.ts';
const plain = 'src/writes/client/plain-statements.ts';
const client = 'src/writes/client/mutator-client.ts';
const runs = 'src/writes/runs.ts';
const claims = 'sql/0001-initial.sql';
const groups = 'src/store/client-groups.ts';
const tests = ['test/writes/push.test.ts'];
const store = ['test/store/client-groups.test.ts'];
const failures = ['test/writes/push-failures.test.ts'];
const shared = ['test/writes/push-together.test.ts'];

export const pushing: readonly Fault[] = [
  {
    name: 'anybody may push to a client group that is known',
    file: group,
    find: 'if (owner !== null && owner !== this.#userID) {',
    replace: 'if (owner === "") {',
    tests,
  },
  {
    name: 'whoever loses the race for a client group may push to it',
    file: claims,
    find: '\n    where exists (select from tidemark.client_group where id = of_group and user_id = of_user)',
    replace: '\n    where true',
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
    file: group,
    find: 'return record?.clientGroupID === this.#request.clientGroupID && id <= record.lastMutationID;',
    replace: 'return record !== undefined && id <= record.lastMutationID;',
    tests,
  },
  {
    name: 'a client of another group is no obstacle',
    file: group,
    find: 'if (record.clientGroupID !== this.#request.clientGroupID) {',
    replace: 'if (record.clientGroupID === "") {',
    tests,
  },
  {
    name: 'a mutation of a client of another group is claimed',
    file: claims,
    find: 'where id = of_client and client_group_id = of_group and last',
    replace: 'where id = of_client and last',
    tests,
  },
  {
    name: 'a gap is passed over',
    file: group,
    find: 'if (record.lastMutationID >= id) return undefined;',
    replace: 'return { error: "ClientStateNotFound" };',
    tests,
  },
  {
    name: 'mutations are claimed in any order',
    file: claims,
    find: 'and last_mutation_id = mutation - 1',
    replace: 'and last_mutation_id < mutation',
    tests,
  },
  {
    name: 'a first mutation that comes again begins anew',
    file: claims,
    find: '      and not exists (select from tidemark.client where id = of_client)\n    on conflict (id) do nothing',
    replace: '    on conflict (id) do update set last_mutation_id = 1',
    tests: store,
  },
  {
    name: 'mutations run without being claimed',
    file: once,
    find: 'return mutate(transact, run, claim);',
    replace: 'return mutate(transact, run);',
    tests: failures,
  },
  {
    name: 'a mutation is claimed in a transaction of its own',
    file: 'src/db/transact.ts',
    find: 'const results = await together(client, ...texts).catch(failExplained);',
    replace:
      'const results = first.length > 0 ? await together(client, ...first.map(inline)) : []; await client.query(texts[0]!);',
    tests: failures,
  },
  {
    name: 'the record keeps the transaction of the first mutation',
    file: claims,
    find: 'set last_mutation_id = mutation, xid = pg_current_xact_id()',
    replace: 'set last_mutation_id = mutation',
    tests: shared,
  },
  {
    name: 'a group that the database has lost is recorded anew',
    file: group,
    find: "if (first.id > 1 && !clients.has(first.clientID)) return { error: 'ClientStateNotFound' };",
    replace: '',
    tests,
  },
  {
    name: 'a mutation that fails for good is not skipped',
    file: once,
    find: 'if (!claimed) return false;',
    replace: 'if (!claimed) return false;\n  throw result.error;',
    tests: failures,
  },
  {
    name: 'a mutation is skipped because its validator could not ask the database',
    file: once,
    find: '      if (isTransient(error)) throw error;\n',
    replace: '',
    tests: failures,
  },
  {
    name: 'every schema version is served',
    file: group,
    find: 'schemaVersions.includes(this.#request.schemaVersion)',
    replace: 'schemaVersions.length > 0',
    tests,
  },
  {
    name: 'a first mutation that comes again waits for those that are being applied',
    file: claims,
    find: '\n      and not exists (select from tidemark.client where id = of_client)',
    replace: '',
    tests: store,
  },
  {
    name: 'a mutation is claimed for whoever pushes it',
    file: claims,
    find: '= mutation - 1\n      and exists (select from tidemark.client_group where id = of_group and user_id = of_user)',
    replace: '= mutation - 1',
    tests: store,
  },
  {
    name: 'further mutations are claimed by another transaction than the first',
    file: groups,
    find: ' and xid = pg_current_xact_id()',
    replace: '',
    tests: store,
  },
  {
    name: 'of mutations in one transaction, only the first is confirmed',
    file: together,
    find: 'if (count > 1) {',
    replace: 'if (count > 1000) {',
    tests: shared,
  },
  {
    name: 'all mutations of a run are confirmed, however many were applied',
    file: together,
    find: 'run[count - 1]!.id',
    replace: 'run.at(-1)!.id',
    tests: shared,
  },
  {
    name: 'mutations share a transaction with one that may have changed its settings',
    file: together,
    find: 'const canGoOn = () => shared.isPlain && ',
    replace: 'const canGoOn = () => ',
    tests: shared,
  },
  {
    name: 'a mutation may do anything to the transaction that it shares',
    file: together,
    find: 'if (joins) shared.restrict();',
    replace: '',
    tests: shared,
  },
  {
    name: 'mutations share a transaction whose end checks them all',
    file: together,
    find: ' && deferred!.length === 0',
    replace: '',
    tests: shared,
  },
  {
    name: 'mutations share a transaction without end',
    file: together,
    find: ' && performance.now() - started < LONGEST_MS',
    replace: '',
    tests: shared,
  },
  {
    name: 'mutations wait for a slow one that shares their transaction',
    file: together,
    find: 'joins ? limit.within(applied) : applied',
    replace: 'applied',
    tests: shared,
  },
  {
    name: 'a slow mutation runs twice at the same time',
    file,
    find: 'await running.get(mutation);',
    replace: '',
    tests: shared,
  },
  {
    name: 'a slow mutation is forgotten',
    file: together,
    find: ' || error instanceof LateError',
    replace: '',
    tests: shared,
  },
  {
    name: 'a failed transaction goes on with the next mutation',
    file: together,
    find: '      if (!shared.isSound) throw',
    replace: '      if (shared === undefined) throw',
    tests: shared,
  },
  {
    name: 'a failed transaction is mended by nothing',
    file: client,
    find: 'this.#hasFailed = error !== null;',
    replace: 'this.#hasFailed ||= error !== null;',
    tests: ['test/writes/mutator-client.test.ts'],
  },
  {
    name: 'a statement that failed is no failure of the transaction',
    file: client,
    find: 'this.#hasFailed = error !== null;',
    replace: '',
    tests: ['test/writes/mutator-client.test.ts'],
  },
  {
    name: 'mutations behind one that failed are skipped with it',
    file,
    find: 'runs.failed(run, result.place);',
    replace: 'runs.failed(run, result.place), place++;',
    tests: shared,
  },
  {
    name: 'what fails at the commit of several mutations fails the push',
    file: together,
    find: 'if (!hasBegun || (isTransient(error) && !isRetryable(error))) throw error;',
    replace: 'throw error;',
    tests: shared,
  },
  {
    name: 'mutations of two clients are taken for one client’s',
    file: runs,
    find: 'mutation.clientID === first.clientID &&',
    replace: '',
    tests: ['test/writes/runs.test.ts'],
  },
  {
    name: 'a second statement in one text is not seen',
    file: plain,
    find: '/;(?!\\s*$)|',
    replace: '/',
    tests: ['test/writes/plain-statements.test.ts', 'test/writes/push-together.test.ts'],
  },
  {
    name: 'a mutator writes after its transaction was given up',
    file: client,
    find: "this.#allowed = 'none';",
    replace: '',
    tests: ['test/writes/mutator-client.test.ts', 'test/writes/sessions.test.ts'],
  },
  {
    name: 'every push first asks for its client group',
    file,
    find: 'if (group.isNew || !group.isServed) {',
    replace: 'if (group.isServed) {',
    tests: ['test/writes/round-trips.test.ts'],
  },
];

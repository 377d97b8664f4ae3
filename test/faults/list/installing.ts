import type { Fault } from '../fault.js';

const file = 'src/installation/migrate.ts';
const check = 'src/installation/capture-check.ts';
const tests = ['test/installation/migrate.test.ts'];
const gaps = ['test/pulls/no-silent-gap.test.ts'];
const subscriptions = ['test/pulls/subscriptions.trial.ts'];
const installation = 'src/installation/installation.ts';
const shaped = 'src/installation/shaped-tables.ts';

export const installing: readonly Fault[] = [
  {
    name: 'a table is captured as it was before its lock was there',
    file,
    find: `await client.query(\`lock table \${relation} in share row exclusive mode\`);`,
    replace: '',
    tests,
  },
  {
    name: 'migrations do not wait for one another',
    file,
    find: "await client.query('lock table tidemark.migration in share row exclusive mode');",
    replace: '',
    tests,
  },
  {
    name: 'a migration that has waited sees what was there before',
    file,
    find: 'await client.query(readCommitted);',
    replace: '',
    tests,
  },
  {
    name: 'client records keep the transaction IDs of another cluster',
    file,
    find: "await client.query(`update tidemark.client set xid = '0'`);",
    replace: '',
    tests,
  },
  {
    name: 'cookies stay good after a move to another cluster',
    file,
    find: ', install_id = gen_random_uuid()',
    replace: '',
    tests,
  },
  {
    name: 'the horizon of another cluster stays',
    file,
    find: "'update tidemark.meta set horizon = pg_snapshot_xmin(pg_current_snapshot()), install_id",
    replace: "'update tidemark.meta set install_id",
    tests,
  },
  {
    name: 'another cluster’s log goes unnoticed',
    file: installation,
    find: 'where last.xid >= pg_snapshot_xmax',
    replace: 'where last.xid < pg_snapshot_xmin',
    tests,
  },
  {
    name: 'a newer schema is migrated',
    file,
    find: 'refuseNewer({ breaking: Math.max(0, ...rows.map((row) => (row.breaking ? row.version : 0))) }, codeVersion);',
    replace: '',
    tests,
  },
  {
    name: 'a server works with a newer schema',
    file: installation,
    find: 'refuseOther(await installedVersion(db), supported);',
    replace: '',
    tests,
  },
  {
    name: 'a server works with another cluster’s log',
    file: installation,
    find: 'if (foreign) {',
    replace: 'if (identity.cluster === "") {',
    tests,
  },
  {
    name: 'triggers that a replica role silences count as firing',
    file: check,
    find: "if (row.enabled !== 'A')",
    replace: "if (row.enabled === 'D' || row.enabled === 'R')",
    tests: gaps,
  },
  {
    name: 'capture that does not fit the table counts as capture',
    file: check,
    find: 'if (!right.includes(row.body))',
    replace: "if (row.body === '')",
    tests: gaps,
  },
  {
    name: 'the triggers of partitions are not looked for',
    file: check,
    find: 'for (const part of table.parts) {',
    replace: 'for (const part of table.parts.slice(0, 1)) {',
    tests: gaps,
  },
  {
    name: 'what a subscription writes to an ordinary table counts as captured',
    file: check,
    find: "if (row.subscribed && table.kind !== 'p') return subscription;",
    replace: '',
    tests: subscriptions,
  },
  {
    name: 'what a subscription writes to a partitioned table counts as lost',
    file: check,
    find: "if (row.subscribed && table.kind !== 'p')",
    replace: 'if (row.subscribed)',
    tests: subscriptions,
  },
  {
    name: 'triggers are replaced with a function that was right',
    file,
    find: 'if (!before.fault) return runEach(client, createCaptureFunction(id, found));',
    replace: '',
    tests: ['test/pulls/capture-after-ddl.test.ts'],
  },
  {
    name: 'a table that cannot be captured is captured',
    file,
    find: 'if (fault) throw new SetupError(explainFault(label, fault));',
    replace: '',
    tests: subscriptions,
  },
  {
    name: 'what is not captured is served',
    file: installation,
    find: 'if (fault === undefined) continue;',
    replace: 'if (fault !== null) continue;',
    tests: gaps,
  },
  {
    name: 'a trigger that was disabled for a while leaves no trace',
    file: shaped,
    find: 'tgname, tgenabled, t.xmin)',
    replace: 'tgname, tgenabled)',
    tests: gaps,
  },
  {
    name: 'a table’s shape depends on what other tables are read with it',
    file: shaped,
    find: 'from pg_trigger t join member on member.oid = tgrelid',
    replace: 'from pg_trigger t join relation on relation.oid = tgrelid',
    tests: ['test/installation/shaped-tables.test.ts'],
  },
  {
    name: 'the tables are read each second by plans that are made each time',
    file: 'src/catalog/tables.ts',
    find: 'unnest((select $1::text[]))',
    replace: 'unnest($1::text[])',
    tests: ['test/installation/current-installation.test.ts'],
  },
  {
    name: 'what was found out for other tables is used on',
    file: 'src/installation/readings.ts',
    find: 'last !== undefined && isDeepStrictEqual(last.installation, read)',
    replace: 'last !== undefined',
    tests: ['test/installation/current-installation.test.ts'],
  },
  {
    name: 'what a server knows of the tables gets older than a second',
    file: 'src/installation/readings.ts',
    find: 'const maxAgeMs = 1000;',
    replace: 'const maxAgeMs = 10_000;',
    tests: gaps,
  },
  {
    name: 'the function that logs mutations takes a client’s temporary objects',
    file: 'sql/0001-initial.sql',
    find: 'set search_path = pg_catalog, pg_temp\nas $$\nbegin\n  insert into tidemark.change (table_id, xid, key) values (0',
    replace: 'set search_path = pg_catalog\nas $$\nbegin\n  insert into tidemark.change (table_id, xid, key) values (0',
    tests: ['test/installation/roles.test.ts'],
  },
  {
    name: 'anybody may have mutations logged',
    file: 'sql/0001-initial.sql',
    find: 'revoke all on function tidemark.log_mutation() from public',
    replace: 'grant all on function tidemark.log_mutation() to public',
    tests: ['test/installation/roles.test.ts'],
  },
  {
    name: 'mutations of a session that acts as a replica are not logged',
    file: 'sql/0001-initial.sql',
    find: 'enable always trigger',
    replace: 'enable trigger',
    tests,
  },
];

import type { Fault } from '../fault.js';

const file = 'src/installation/capture.ts';
const tests = ['test/installation/capture.test.ts'];
/** The settings that decide how values are written as text. */
const formats = [
  "datestyle = 'ISO, YMD'",
  "intervalstyle = 'iso_8601'",
  'extra_float_digits = 1',
  "timezone = 'UTC'",
  "bytea_output = 'hex'",
];
const ofPartitions = 'sql/0001-initial.sql';
const fixedText = ['test/installation/fixed-text.test.ts'];
const roles = ['test/installation/roles.test.ts'];

export const capture: readonly Fault[] = [
  {
    name: 'a writer’s temporary types come before all others',
    file,
    find: 'set search_path = pg_catalog, pg_temp',
    replace: 'set search_path = pg_catalog',
    tests: roles,
  },
  {
    name: 'the function runs as whoever writes',
    file,
    find: 'language plpgsql security definer\n',
    replace: 'language plpgsql\n',
    tests: roles,
  },
  {
    name: 'anybody may use the function for a trigger',
    file,
    find: `revoke all on function \${name}() from public`,
    replace: `grant all on function \${name}() to public`,
    tests: roles,
  },
  {
    name: 'sessions that act as a replica write unseen',
    file,
    find: 'enable always trigger',
    replace: 'enable trigger',
    tests,
  },
  {
    name: 'no capture fixes the settings',
    file,
    find: `pg_temp\${settings}`,
    replace: 'pg_temp',
    tests,
  },
  ...formats.map((setting) => ({
    name: `the writer’s own ${setting.split(' ')[0]} shows in the log`,
    file,
    find: `set ${setting}`,
    replace: '',
    tests,
  })),
  {
    name: 'the writer’s own lc_monetary shows in the log',
    file,
    find: " set lc_monetary = 'C'",
    replace: '',
    tests: ['test/installation/migrate.test.ts'],
  },
  {
    name: 'partitions are captured by statement, as other tables are',
    file,
    find: "(table.kind === 'p' ? rowTriggers",
    replace: "(table.kind === 'x' ? rowTriggers",
    tests,
  },
  {
    name: 'TRUNCATE is not captured',
    file,
    find: 'statementTriggers), truncate];',
    replace: 'statementTriggers)];',
    tests,
  },
  {
    name: 'a TRUNCATE trusts a snapshot that may be too early',
    file,
    find: `current_setting('transaction_isolation') in ('read committed', 'read uncommitted')`,
    replace: 'true',
    tests: ['test/pulls/truncate.test.ts'],
  },
  {
    name: 'a TRUNCATE fails where the owner may not read the table',
    file,
    find: `has_table_privilege(tg_relid, 'select')`,
    replace: 'true',
    tests: ['test/pulls/truncate.test.ts'],
  },
  {
    name: 'a TRUNCATE looks for rows once they have gone',
    file,
    find: `event: 'before truncate'`,
    replace: `event: 'after truncate'`,
    tests: ['test/pulls/truncate.test.ts'],
  },
  {
    name: 'keys that repeat within an UPDATE keep the surplus of their pairs',
    file,
    find: 'if logged <> (select count(*) from old_rows) then',
    replace: 'if false then',
    tests,
  },
  {
    name: 'an UPDATE of several rows is taken for one of a single row',
    file,
    find: 'not exists (select from old_rows offset 1) and ',
    replace: '',
    tests,
  },
  {
    name: 'the writer’s settings show in columns that a table got after `migrate`',
    file,
    find: `else tidemark.fixed_text(\${row}.*) end`,
    replace: `else \${plainImage(row)} end`,
    tests: fixedText,
  },
  {
    name: 'a row trigger relies on plans that are made again after an ALTER TABLE',
    file,
    find: `case when tg_relid <> tidemark.relation_of(\${id}) then \${hasFixedTextSql(id)} end`,
    replace: `\${hasFixedTextSql(id)}`,
    tests: fixedText,
  },
  ...formats.map((setting) => ({
    name: `the writer’s own ${setting.split(' ')[0]} shows in a column that a table got after \`migrate\``,
    file: 'sql/0001-initial.sql',
    find: `set ${setting}`,
    replace: '',
    tests: fixedText,
  })),
  {
    name: 'a writer to a partition waits for DDL that waits for it',
    file: ofPartitions,
    find: ` set lock_timeout = '1ms'`,
    replace: '',
    tests: fixedText,
  },
  {
    name: 'an escaped name is taken for an enum’s',
    file: ofPartitions,
    find: `[a-zA-Z0-9]|_(?!x))*)$`,
    replace: `[a-zA-Z0-9]|_)*)$`,
    tests: fixedText,
  },
  {
    name: 'a column is looked for with a snapshot that may be older',
    file: ofPartitions,
    find: `table_to_xmlschema((select relation from tidemark.synced_table where id = of_table), true, false, '')`,
    replace: `(select string_agg(format('"%s" nillable="true"', case
      when atttypid = any ('{int2, int4, int8, numeric, bool, text, varchar, bpchar, uuid, json, jsonb, _int4}'::regtype[]) then 'INTEGER'
      else 'OTHER' end), '') from pg_attribute join tidemark.synced_table on attrelid = relation
      where id = of_table and attnum > 0 and not attisdropped)`,
    tests: fixedText,
  },
  {
    name: 'an UPDATE of a key loses both',
    file,
    find: 'from old_rows o full join new_rows n',
    replace: 'from old_rows o join new_rows n',
    tests,
  },
  {
    name: 'an UPDATE of a key in a partitioned table loses the new one',
    file,
    find: `      \${gone('old')};\n      \${made('new')};`,
    replace: `      \${gone('old')};`,
    tests,
  },
  {
    name: 'a partition’s row is taken for one in the layout of its parent',
    file,
    find: "isPartitioned ? [', partition'",
    replace: "table.kind === 'x' ? [', partition'",
    tests: ['test/pulls/partitions.test.ts'],
  },
];

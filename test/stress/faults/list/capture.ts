/** Faults in what triggers write to the change log. */
import type { Fault } from '../fault.js';

export const capture: readonly Fault[] = [
  {
    name: 'A writer’s temporary objects shadow those that the capture functions use.',
    find: 'set search_path = pg_catalog, pg_temp',
    replace: 'set search_path = pg_catalog',
    test: 'schema/roles',
  },
  {
    name: 'The capture function runs with the writer’s rights.',
    find: 'language plpgsql security definer\n',
    replace: 'language plpgsql\n',
    test: 'schema/roles',
  },
  {
    name: 'Every role may use a capture function in a trigger of its own.',
    find: `revoke all on function \${name}() from public`,
    replace: `grant all on function \${name}() to public`,
    test: 'schema/roles',
  },
  {
    name: 'Every role may log mutations.',
    find: 'revoke all on function tidemark.log_mutation() from public',
    replace: 'grant all on function tidemark.log_mutation() to public',
    test: 'schema/roles',
  },
  {
    name: 'Writes with session_replication_role = replica are not captured.',
    find: 'enable always trigger',
    replace: 'enable trigger',
    test: 'schema/capture',
  },
  {
    name: 'The log has dates in the writer’s DateStyle.',
    find: "set datestyle = 'ISO, YMD'",
    replace: '',
    test: 'schema/capture',
  },
  {
    name: 'The log has doubles with the writer’s number of digits.',
    find: 'set extra_float_digits = 1',
    replace: '',
    test: 'schema/capture',
  },
  {
    name: 'The log has times in the writer’s time zone.',
    find: "set timezone = 'UTC'",
    replace: '',
    test: 'schema/capture',
  },
  {
    name: 'A writer to a partition deadlocks with DDL.',
    find: " set lock_timeout = '1ms'",
    replace: '',
    test: 'schema/fixed-text',
  },
  {
    name: 'A TRUNCATE trusts a snapshot that may be older than the lock.',
    find: "current_setting('transaction_isolation') in ('read committed', 'read uncommitted')",
    replace: 'true',
    test: 'pulls/truncate',
  },
  {
    name: 'A TRUNCATE looks for rows after it has removed them.',
    find: "event: 'before truncate'",
    replace: "event: 'after truncate'",
    test: 'pulls/truncate',
  },
  {
    name: 'An UPDATE that swaps keys logs too few rows.',
    find: 'if logged <> (select count(*) from old_rows) then',
    replace: 'if false then',
    test: 'schema/capture',
  },
  {
    name: 'An UPDATE of several rows is logged as one row.',
    find: 'not exists (select from old_rows offset 1) and ',
    replace: '',
    test: 'schema/capture',
  },
  {
    name: 'An UPDATE of a key is not logged.',
    find: 'from old_rows o full join new_rows n',
    replace: 'from old_rows o join new_rows n',
    test: 'schema/capture',
  },
  {
    name: 'A statement does not detect a renamed label of an enum.',
    find: 'array(select xmin from pg_enum where enumtypid = t.oid order by enumsortorder)',
    replace: 'array(select e.oid from pg_enum e where enumtypid = t.oid order by enumsortorder)',
    test: 'pulls/altered-types',
  },
  {
    name: 'A patch of a table that was rewritten is taken for one of the previous table.',
    find: 'row_security_active(relation), pg_relation_filenode(relation),',
    replace: 'row_security_active(relation),',
    test: 'pulls/torn-reads',
  },
  {
    name: 'A statement that waited for DDL does not see what the DDL did.',
    find: 'tidemark.relation_fingerprint(relation oid) returns bigint\nlanguage plpgsql volatile',
    replace: 'tidemark.relation_fingerprint(relation oid) returns bigint\nlanguage plpgsql stable',
    test: 'pulls/torn-reads',
  },
  {
    name: 'A statement that waited for a TRUNCATE accepts its files, because another server has shown them already.',
    find: '    or not tidemark.shows_table(expected.oid)\n',
    replace: '',
    test: 'pulls/several-hosts',
  },
];

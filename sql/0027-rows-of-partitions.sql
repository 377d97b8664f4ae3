-- True if the rows of a captured table have the same text whatever the session's settings. It is declared immutable so that
-- the planner evaluates it; Postgres plans the capture function's statements again after each ALTER TABLE. A query on
-- pg_attribute could miss a column that is newer than the transaction's snapshot. Postgres makes the XML schema of the same
-- columns as the rows. Replacing substrings delays a session's first write less than a regular expression does.
-- A writer to a partition may not have locked the table itself: it does not wait for DDL, which may wait for the writer.
create or replace function tidemark.has_fixed_text(of_table integer) returns boolean
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set lock_timeout = '1ms' as $$
declare
  columns text;
  fixed text;
begin
  begin
    columns := table_to_xmlschema((select relation from tidemark.synced_table where id = of_table), true, false, '');
  exception when feature_not_supported or lock_not_available then
    return false; -- This Postgres was built without libxml, or the table is being altered.
  end;
  foreach fixed in array array[
    '"SMALLINT', '"INTEGER', '"BIGINT', '"NUMERIC', '"BOOLEAN', '"CHAR', '"VARCHAR',
    '.pg_catalog.text', '.pg_catalog.uuid', '.pg_catalog.json', '.pg_catalog.jsonb',
    '.pg_catalog.inet', '.pg_catalog._bool', '.pg_catalog._int4', '.pg_catalog._int8', '.pg_catalog._numeric',
    '.pg_catalog._text', '.pg_catalog._varchar', '.pg_catalog._uuid'
  ] loop
    columns := replace(columns, fixed || '" nillable="true"', '');
  end loop;
  if columns not like '%nillable="true"%' then
    return true;
  end if;
  -- The other columns may be of enum types. XML escapes some characters of names; names that may have any are left out.
  return not exists (
    select from regexp_matches(columns, 'type="([^"]*)" nillable="true"', 'g') other (type)
    cross join regexp_match(type[1], '^UDT\.[^.]*\.([a-zA-Z](?:[a-zA-Z0-9]|_(?!x))*)\.([a-zA-Z](?:[a-zA-Z0-9]|_(?!x))*)$') name
    where not exists (
      select from pg_type where typtype = 'e' and oid = to_regtype('"' || name[1] || '"."' || name[2] || '"')
    )
  );
end
$$;

-- The table with the change-log ID. It is declared immutable so that the planner evaluates it: a plan that names the table is
-- made again after the table is altered.
create or replace function tidemark.relation_of(of_table integer) returns regclass
language sql immutable strict parallel safe as $$
  select relation from tidemark.synced_table where id = of_table
$$;

-- A row as text, the same whatever the session's settings.
create or replace function tidemark.fixed_text(of_row record) returns text
language plpgsql stable strict parallel safe
set datestyle = 'ISO, YMD' set intervalstyle = 'iso_8601' set extra_float_digits = 1
set timezone = 'UTC' set bytea_output = 'hex' set lc_monetary = 'C' as $$
begin
  return of_row::text;
end
$$;

-- True if the rows of a captured table have the same text whatever the session's settings. It is declared immutable so that
-- the planner evaluates it; Postgres plans the capture function's statements again after each ALTER TABLE. A query on
-- pg_attribute could miss a column that is newer than the transaction's snapshot. Postgres makes the XML schema of the same
-- columns as the rows. Replacing substrings delays a session's first write less than a regular expression does.
create or replace function tidemark.has_fixed_text(of_table integer) returns boolean
language plpgsql immutable strict parallel safe as $$
declare
  columns text;
  fixed text;
begin
  begin
    columns := table_to_xmlschema((select relation from tidemark.synced_table where id = of_table), true, false, '');
  exception when feature_not_supported then
    return false; -- This Postgres was built without libxml.
  end;
  foreach fixed in array array[
    '"SMALLINT', '"INTEGER', '"BIGINT', '"NUMERIC', '"BOOLEAN', '"CHAR', '"VARCHAR',
    '.pg_catalog.text', '.pg_catalog.uuid', '.pg_catalog.json', '.pg_catalog.jsonb',
    '.pg_catalog._int4', '.pg_catalog._int8', '.pg_catalog._text', '.pg_catalog._uuid'
  ] loop
    columns := replace(columns, fixed || '" nillable="true"', '');
  end loop;
  return columns not like '%nillable="true"%';
end
$$;

-- A row as text, the same in every session.
create function tidemark.fixed_text(of_row record) returns text
language plpgsql stable strict parallel safe
set datestyle = 'ISO, YMD' set intervalstyle = 'iso_8601' set extra_float_digits = 1
set timezone = 'UTC' set bytea_output = 'hex' set lc_monetary = 'C' as $$
begin
  return of_row::text;
end
$$;

-- Whether the rows of a captured table have the same text in every session anyway. It is called immutable so that it is
-- evaluated only when a statement with the table's rows is planned, which happens again after every ALTER TABLE. A query on
-- pg_attribute could miss a column that is younger than the transaction's snapshot; the XML schema is made of the columns
-- that the rows have. Replacing texts takes less of a session's first write than a regular expression does.
create function tidemark.has_fixed_text(of_table integer) returns boolean
language plpgsql immutable strict parallel safe as $$
declare
  columns text := table_to_xmlschema((select relation from tidemark.synced_table where id = of_table), true, false, '');
  fixed text;
begin
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

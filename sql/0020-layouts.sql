-- The layouts that synced tables have had, one for each shape: they tell how the rows of the log are to be read that were
-- logged before a table was altered. Nothing depends on a row but speed: without it, the client is reset.
create table tidemark.layout (
  table_id integer not null,
  -- In the order of time.
  number integer not null,
  -- As cookies have it.
  shape text not null,
  -- The table, or each of its partitions, with its columns.
  members json not null,
  -- Transactions that this snapshot shows wrote in an earlier layout. Null if no such snapshot is known.
  before pg_snapshot,
  -- Transactions that this snapshot does not show wrote in this layout, or a later one: DDL that changes a layout waits for
  -- those who write to the table.
  after pg_snapshot not null,
  primary key (table_id, number)
);

-- Whoever may read and write ticks may do the same with layouts.
do $$
declare
  granted record;
begin
  for granted in
    select a.grantee, a.privilege_type from pg_class c, aclexplode(c.relacl) a
    where c.oid = 'tidemark.tick'::regclass and a.grantee <> c.relowner and a.privilege_type in ('SELECT', 'INSERT', 'DELETE')
  loop
    execute format('grant %s on tidemark.layout to %s', granted.privilege_type,
      case granted.grantee when 0 then 'public' else granted.grantee::regrole::text end);
  end loop;
end
$$;

-- Lets one server at a time record layouts, and no DDL change the columns of the tables in the meantime.
create function tidemark.hold_layouts(tables oid[]) returns void
language plpgsql volatile parallel unsafe as $$
declare
  held oid;
begin
  lock table tidemark.layout in share row exclusive mode;
  foreach held in array tables loop
    execute format('lock table %s in access share mode', held::regclass);
  end loop;
end
$$;

-- The fields of a row literal as Postgres writes it.
create function tidemark.fields(image text) returns text[]
language sql immutable strict parallel safe as $$
select array_agg(
    case when field[1] like '"%' then
      replace(replace(substr(field[1], 2, length(field[1]) - 2), '""', '"'), repeat(chr(92), 2), chr(92))
    else nullif(field[1], '') end
    order by place
  )
from regexp_matches(substr(image, 2, length(image) - 2) || ',', '("(?:[^"]|"")*"|[^,"]*),', 'g')
  with ordinality fields (field, place)
$$;

-- In which of several layouts a log row was written, given the first and the last that its transaction may have written in.
-- Null if it has no image to tell, nor need it: in the layouts that come into question, no two images are the same.
--
-- The arrays have, for each layout from 0 on: the first with the same columns; and how many columns there are. "steps" has,
-- for each layout after the first, what has become of the columns: 1 if some were added, -1 if some were dropped, 0 if they
-- are the same; null if this is not all that can have happened. While columns are only added, or only dropped, no layout in
-- between that nobody has recorded has as many columns as one that was.
create function tidemark.written_in(
  earliest integer, latest integer, image text, same integer[], widths integer[], steps integer[]
) returns integer
language plpgsql immutable parallel safe as $$
declare
  made integer[] := steps[earliest + 1:latest];
  layout integer;
begin
  if same[earliest + 1] = same[latest + 1] then
    return same[earliest + 1];
  end if;
  if array_position(made, null) is not null or (1 = any (made) and -1 = any (made)) then
    raise exception 'a row was logged while its table was altered' using errcode = 'TM001';
  end if;
  if image is null then
    return null;
  end if;
  select min(same[place + 1]) into layout
  from generate_series(earliest, latest) place where widths[place + 1] = cardinality(tidemark.fields(image));
  if layout is null then
    raise exception 'a row was logged while its table was altered' using errcode = 'TM001';
  end if;
  return layout;
end
$$;

-- Called in place of a row's image as of a snapshot, if several come into question.
create function tidemark.unclear_image() returns text
language plpgsql volatile parallel safe as $$
begin
  raise exception 'rows were logged while a type was altered' using errcode = 'TM001';
end
$$;

-- A tick is also a witness of the database's history: a copy of the database that continues on its own has other ticks
-- from then on.
alter table tidemark.tick
  add column id uuid not null unique default gen_random_uuid(),
  add column xid xid8 not null default pg_current_xact_id();
create index tick_xid on tidemark.tick (xid);

-- For a partitioned table, the partition that holds the changed row. The row literal has the partition's columns, in
-- the partition's order.
alter table tidemark.change add column partition oid;

-- A digest of what decides which rows a statement finds in a table: its name as this session writes it, its row-level
-- security, its file, its partitions and their files, its inheritance children and its columns. It shows what was done
-- to the table while a statement waited for it. Because the function is volatile, it sees everything that has been
-- committed. Above read committed, it sees all of that but the children and columns, since the functions called here
-- look past the transaction's snapshot.
create function tidemark.outline(relation oid) returns bigint
language plpgsql volatile strict parallel restricted as $$
begin
  return hashtextextended(concat_ws(' ', relation::regclass, row_security_active(relation), pg_relation_filenode(relation),
    (select string_agg(concat_ws(':', relid::oid, pg_relation_filenode(relid)), ',' order by relid) from pg_partition_tree(relation)),
    array(select inhrelid from pg_inherits where inhparent = relation order by inhrelid),
    array(select xmin from pg_attribute where attrelid = relation and attnum > 0 order by attnum)
  ), 0);
end
$$;

-- The outline shows a TRUNCATE, and everything else that gives a table another file.
drop function tidemark.truncated_since(pg_snapshot, integer[]);

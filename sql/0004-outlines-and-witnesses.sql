-- A tick is also a witness of its history: a copy of the database that goes on by itself has other ticks from then on.
alter table tidemark.tick
  add column id uuid not null unique default gen_random_uuid(),
  add column xid xid8 not null default pg_current_xact_id();
create index tick_xid on tidemark.tick (xid);

-- Of a partitioned table, the partition that the changed row is in: the row literal has its columns, in its order.
alter table tidemark.change add column partition oid;

-- A digest of what decides which rows a statement finds in a table: its name as this session says it, its row-level
-- security, its file, its partitions with theirs, its heirs and its columns. It tells what was done to the table while
-- a statement waited for it: being volatile, whatever has been committed; and above read committed all but heirs and
-- columns, since the functions here look past the transaction's snapshot.
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

-- The outline tells of TRUNCATE and of all that likewise gives a table another file.
drop function tidemark.truncated_since(pg_snapshot, integer[]);

-- A tick is also a witness of its history: a copy of the database that goes on by itself has other ticks from then on.
alter table tidemark.tick
  add column id uuid not null unique default gen_random_uuid(),
  add column xid xid8 not null default pg_current_xact_id();
create index tick_xid on tidemark.tick (xid);

-- Of a partitioned table, the partition that the changed row is in: the row literal has its columns, in its order.
alter table tidemark.change add column partition oid;

-- A digest of what decides which rows a statement finds in a table: its name as this session says it, its row-level security, the files
-- of the table, its partitions and its heirs, and its columns. It sees what was done to the table while a statement waited for it: being
-- volatile, whatever has been committed; and above read committed at least names, files and partitions, which it is told by functions
-- that look past the transaction's snapshot.
create function tidemark.outline(relation oid) returns bigint
language plpgsql volatile strict parallel restricted as $$
begin
  return hashtextextended(concat_ws(' ', relation::regclass, row_security_active(relation), (
    select string_agg(concat_ws(':', member.oid, pg_relation_filenode(member.oid)), ',' order by member.oid)
    from (
      select relation
      union select relid from pg_partition_tree(relation)
      union select inhrelid from pg_inherits join pg_class c on c.oid = inhparent where inhparent = relation and relkind <> 'p'
    ) member (oid)
  ), (
    select string_agg(concat_ws(':', attnum, xmin), ',' order by attnum) from pg_attribute where attrelid = relation and attnum > 0
  )), 0);
end
$$;

-- The outline tells of TRUNCATE and of all that likewise gives a table another file.
drop function tidemark.truncated_since(pg_snapshot, integer[]);

-- A digest of the types of a table's columns and all that they consist of, such as the labels of an enum. The xmin of a
-- catalog row reveals every change to it. With arrays, and with subqueries that cannot become joins, no catalog is read
-- whole.
create function tidemark.type_outline(relation oid) returns bigint
language plpgsql volatile strict parallel restricted as $$
begin
  return (
    with recursive type (oid) as (
      select atttypid from pg_attribute where attrelid = relation and attnum > 0 and atttypid >= 16384
      union
      select part.oid from type cross join lateral (
        select unnest(array[t.typelem, t.typbasetype]
          || array(select rngsubtype from pg_range where t.oid in (rngtypid, rngmultitypid))
          || array(select atttypid from pg_attribute where attrelid = t.typrelid and attnum > 0))
        from pg_type t where t.oid = type.oid offset 0
      ) part (oid)
      where part.oid >= 16384
    )
    select hashtextextended(string_agg(concat_ws(' ', t.oid, t.xmin,
      array(select xmin from pg_attribute where attrelid = t.typrelid and attnum > 0 order by attnum),
      array(select xmin from pg_enum where enumtypid = t.oid order by enumsortorder)
    ), ',' order by t.oid), 0)
    from pg_type t where t.oid = any (array(select oid from type))
  );
end
$$;

-- As before, with the outline of the columns' types. Nobody can alter types that are built in, so they do not count. DDL on
-- a type does not wait for those who read or write the table.
create or replace function tidemark.outline(relation oid) returns bigint
language plpgsql volatile strict parallel restricted as $$
begin
  return hashtextextended(concat_ws(' ', relation::regclass, row_security_active(relation), pg_relation_filenode(relation),
    (select string_agg(concat_ws(':', relid::oid, pg_relation_filenode(relid)), ',' order by relid) from pg_partition_tree(relation)),
    array(select inhrelid from pg_inherits where inhparent = relation order by inhrelid),
    array(select xmin from pg_attribute where attrelid = relation and attnum > 0 order by attnum),
    case when exists (select from pg_attribute where attrelid = relation and attnum > 0 and atttypid >= 16384) then
      tidemark.type_outline(relation)
    end
  ), 0);
end
$$;

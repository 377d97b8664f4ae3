-- The log is read from its index, in the index's order, and only as far as is needed. Where Postgres expects only a few
-- rows, it would read and sort all there are.

alter function tidemark.look(xid8[], xid8[], integer[], boolean, uuid, text[]) set enable_bitmapscan = off;

-- Counts the keys of which the log has changes that the ranges of transaction IDs include, and these changes, in so many
-- of them at most.
create function tidemark.changed_keys(
  tables integer[], lows xid8[], highs xid8[], most integer, out keys integer, out changes integer
)
language sql stable parallel restricted
set enable_seqscan = off set enable_bitmapscan = off as $$
select count(*)::integer, coalesce(sum(c.changes), 0)::integer
from (
  select count(*) as changes
  from (
    select logged.* from unnest(tables) t (id)
    cross join unnest(lows, highs) unseen (low, high)
    cross join lateral (
      select table_id, key from tidemark.change
      where table_id = t.id and xid between low and high and hashtextextended(old, 0) is distinct from new_hash
      order by xid limit most
    ) logged
    limit most
  ) l
  group by l.table_id, l.key
) c
$$;

-- todo: all rows
copy (
with tidemark_observation as materialized (select '' as line)
select line, null, null, null from tidemark_observation
union all
select '0', coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')), v."id"::text, v."title"::text from (
select id, title from todo where owner_id =  ('ada'::pg_catalog.text)
) v
) to stdout;

-- todo: ops from its fields
[
  {
    "fields": [
      {
        "before": ",{\"op\":\"put\",\"key\":",
        "isString": true
      },
      {
        "before": ",\"value\":{\"id\":",
        "isString": false
      },
      {
        "before": ",\"title\":",
        "isString": true
      }
    ],
    "end": "}}\n",
    "isOneLine": false
  }
];

-- todo: a delta with checksums
with tidemark_observation as materialized (select '' as line),
tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, '{9223372036854775807}', '{18446744073709551615}')
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_before_0 as materialized (select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM tidemark_old_rows_1 AS todo WHERE owner_id =  ('ada'::pg_catalog.text)
) v
) r),
tidemark_after_0 as materialized (select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM tidemark_new_rows_1 AS todo WHERE owner_id =  ('ada'::pg_catalog.text)
) v
) r),
tidemark_pairs_0 as materialized (select tidemark_k1, tidemark_key, tidemark_value, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select tidemark_k1, tidemark_key, tidemark_value, false as tidemark_after from tidemark_before_0 union all select tidemark_k1, tidemark_key, tidemark_value, true from tidemark_after_0) r
window pair as (partition by tidemark_key collate "C" order by tidemark_after))
select line from tidemark_observation
union all
select json_build_object('changes', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) as hash from tidemark_pairs_0 b
        where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and not (b.tidemark_other is null and exists (
    select from (
SELECT id, title FROM tidemark_as_of_1 AS todo WHERE owner_id =  ('ada'::pg_catalog.text)
) v where v."id" = b.tidemark_k1 and coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) = b.tidemark_key and row_to_json(v.*)::text = b.tidemark_value offset 0
  ))
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_other) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and b.tidemark_other is not null
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select id, title from todo where owner_id =  ('ada'::pg_catalog.text)
) v where v."id" = b.tidemark_k1 and coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) = b.tidemark_key and true offset 0
  )) r cross join generate_series(0, 2) g
    group by cell
  ) c)), 'whole', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((tidemark_key) collate "C", hashtextextended((tidemark_value) collate "C", 0)) & 2147483647) as hash from (select v."id" as tidemark_k1, coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
select id, title from todo where owner_id =  ('ada'::pg_catalog.text)
) v) r) r cross join generate_series(0, 2) g
    group by cell
  ) c)))::text as line
union all
select ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
union all
select ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b  where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select id, title from todo where owner_id =  ('ada'::pg_catalog.text)
) v where v."id" = b.tidemark_k1 and coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) = b.tidemark_key and true offset 0
  );

-- todo: a delta for several cohorts
with tidemark_observation as materialized (select json_build_object('observation', tidemark.poll($1::xid8[], $2::xid8[], $3::integer[], $4::boolean, $5::uuid, $6::text[]), 'torn', exists (
  select from unnest($7::oid[], $8::bigint[]) expected (oid, fingerprint)
  where tidemark.relation_fingerprint(expected.oid) is distinct from expected.fingerprint
    or not tidemark.shows_table(expected.oid)
))::text as line),
tidemark_cohorts as materialized (
  select unnest((select $9::integer[])) as tidemark_cohort, unnest((select $10::pg_catalog.text[])) as tidemark_p1
),
tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, $1, $2)
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_before_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM tidemark_old_rows_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r),
tidemark_after_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM tidemark_new_rows_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r),
tidemark_pairs_0 as materialized (select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, false as tidemark_after from tidemark_before_0 union all select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, true from tidemark_after_0) r
window pair as (partition by tidemark_cohort, tidemark_key collate "C" order by tidemark_after))
select tidemark_cohort as cohort, case when size <= 4194304 then line end as line
from (
  select *, sum(octet_length(line)) over (rows unbounded preceding) as size from (
    select null::integer as tidemark_cohort, line from tidemark_observation
    union all
select tidemark_cohort, ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
    union all
select tidemark_cohort, ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b join tidemark_cohorts tidemark_parameters using (tidemark_cohort) where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
SELECT id, title FROM todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v where v."id" = b.tidemark_k1 and coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) = b.tidemark_key and true offset 0
  )
  ) lines
) sized
limit 5002;

-- todo: affected cohorts
with tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, $1, $2)
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_images_1 as materialized (
      select key, old as old from tidemark.unseen(1, $1, $2)
      where key is not null and hashtextextended(old, 0) is distinct from new_hash
    ),
tidemark_versions_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_images_1 where old is not null offset 0) image) i
      union all
      select t.* from (select distinct key[1]::integer as k1 from tidemark_images_1) c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_all_versions_1 as not materialized (
      select t.* from "public"."todo" t union all select m.* from tidemark_versions_1 m where true
    ),
tidemark_cohorts as materialized (
  select unnest((select $3::integer[])) as tidemark_cohort, unnest((select $4::pg_catalog.text[])) as tidemark_p1
),
tidemark_candidates as materialized (
      select * from tidemark_cohorts tidemark_parameters where exists (
select v."id" as tidemark_k1, coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM tidemark_versions_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v
)
    ),
tidemark_before as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM tidemark_old_rows_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r),
tidemark_after as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM tidemark_new_rows_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r)
select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_after b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_before o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key and o.tidemark_value = b.tidemark_value) and not exists (
    select from (
SELECT id, title FROM tidemark_as_of_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v where v."id" = b.tidemark_k1 and coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) = b.tidemark_key and row_to_json(v.*)::text = b.tidemark_value offset 0
  ))
    union
    select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_before b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_after o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key) and not exists (
    select from (
SELECT id, title FROM todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v where v."id" = b.tidemark_k1 and coalesce('todo/' || v."id"::text collate "C", tidemark.null_key('todo')) = b.tidemark_key and true offset 0
  ));

-- exact: all rows
copy (
with tidemark_observation as materialized (select '' as line)
select line, null, null, null, null, null from tidemark_observation
union all
select '0', coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')), v."id"::text, case when v."size" between -9007199254740991 and 9007199254740991 then v."size"::text else to_json(v."size"::text)::text end, case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, to_json(v."at")::text from (
select id, size, price, at from todo
) v
) to stdout;

-- exact: ops from its fields
[
  {
    "fields": [
      {
        "before": ",{\"op\":\"put\",\"key\":",
        "isString": true
      },
      {
        "before": ",\"value\":{\"id\":",
        "isString": false
      },
      {
        "before": ",\"size\":",
        "isString": false
      },
      {
        "before": ",\"price\":",
        "isString": false
      },
      {
        "before": ",\"at\":",
        "isString": false
      }
    ],
    "end": "}}\n",
    "isOneLine": false
  }
];

-- exact: a delta with checksums
with tidemark_observation as materialized (select '' as line),
tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, '{9223372036854775807}', '{18446744073709551615}')
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_before_0 as materialized (select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) as tidemark_key, (select row_to_json(j.*)::text from (select v."id" as "id", case when v."size" is null then null when v."size" between -9007199254740991 and 9007199254740991 then to_json(v."size") else to_json(v."size"::text) end as "size", case when v."price" is null then null when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price") else to_json(v."price"::text) end as "price", v."at" as "at") j) as tidemark_value from (
SELECT id, size, price, at FROM tidemark_old_rows_1 AS todo
) v
) r),
tidemark_after_0 as materialized (select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) as tidemark_key, (select row_to_json(j.*)::text from (select v."id" as "id", case when v."size" is null then null when v."size" between -9007199254740991 and 9007199254740991 then to_json(v."size") else to_json(v."size"::text) end as "size", case when v."price" is null then null when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price") else to_json(v."price"::text) end as "price", v."at" as "at") j) as tidemark_value from (
SELECT id, size, price, at FROM tidemark_new_rows_1 AS todo
) v
) r),
tidemark_pairs_0 as materialized (select tidemark_k1, tidemark_key, tidemark_value, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select tidemark_k1, tidemark_key, tidemark_value, false as tidemark_after from tidemark_before_0 union all select tidemark_k1, tidemark_key, tidemark_value, true from tidemark_after_0) r
window pair as (partition by tidemark_key collate "C" order by tidemark_after))
select line from tidemark_observation
union all
select json_build_object('changes', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) as hash from tidemark_pairs_0 b
        where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and not (b.tidemark_other is null and exists (
    select from (
SELECT id, size, price, at FROM tidemark_as_of_1 AS todo
) v where v."id" = b.tidemark_k1 and coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) = b.tidemark_key and (select row_to_json(j.*)::text from (select v."id" as "id", case when v."size" is null then null when v."size" between -9007199254740991 and 9007199254740991 then to_json(v."size") else to_json(v."size"::text) end as "size", case when v."price" is null then null when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price") else to_json(v."price"::text) end as "price", v."at" as "at") j) = b.tidemark_value offset 0
  ))
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_other) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and b.tidemark_other is not null
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select id, size, price, at from todo
) v where v."id" = b.tidemark_k1 and coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) = b.tidemark_key and true offset 0
  )) r cross join generate_series(0, 2) g
    group by cell
  ) c)), 'whole', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((tidemark_key) collate "C", hashtextextended((tidemark_value) collate "C", 0)) & 2147483647) as hash from (select v."id" as tidemark_k1, coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) as tidemark_key, (select row_to_json(j.*)::text from (select v."id" as "id", case when v."size" is null then null when v."size" between -9007199254740991 and 9007199254740991 then to_json(v."size") else to_json(v."size"::text) end as "size", case when v."price" is null then null when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price") else to_json(v."price"::text) end as "price", v."at" as "at") j) as tidemark_value from (
select id, size, price, at from todo
) v) r) r cross join generate_series(0, 2) g
    group by cell
  ) c)))::text as line
union all
select ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
union all
select ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b  where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select id, size, price, at from todo
) v where v."id" = b.tidemark_k1 and coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) = b.tidemark_key and true offset 0
  );

-- exact: a delta for several cohorts
with tidemark_observation as materialized (select json_build_object('observation', tidemark.poll($1::xid8[], $2::xid8[], $3::integer[], $4::boolean, $5::uuid, $6::text[]), 'torn', exists (
  select from unnest($7::oid[], $8::bigint[]) expected (oid, fingerprint)
  where tidemark.relation_fingerprint(expected.oid) is distinct from expected.fingerprint
    or not tidemark.shows_table(expected.oid)
))::text as line),
tidemark_cohorts as materialized (
  select unnest((select $9::integer[])) as tidemark_cohort
),
tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, $1, $2)
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_before_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) as tidemark_key, (select row_to_json(j.*)::text from (select v."id" as "id", case when v."size" is null then null when v."size" between -9007199254740991 and 9007199254740991 then to_json(v."size") else to_json(v."size"::text) end as "size", case when v."price" is null then null when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price") else to_json(v."price"::text) end as "price", v."at" as "at") j) as tidemark_value from (
SELECT id, size, price, at FROM tidemark_old_rows_1 AS todo
) v
) r
) r),
tidemark_after_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) as tidemark_key, (select row_to_json(j.*)::text from (select v."id" as "id", case when v."size" is null then null when v."size" between -9007199254740991 and 9007199254740991 then to_json(v."size") else to_json(v."size"::text) end as "size", case when v."price" is null then null when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price") else to_json(v."price"::text) end as "price", v."at" as "at") j) as tidemark_value from (
SELECT id, size, price, at FROM tidemark_new_rows_1 AS todo
) v
) r
) r),
tidemark_pairs_0 as materialized (select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, false as tidemark_after from tidemark_before_0 union all select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, true from tidemark_after_0) r
window pair as (partition by tidemark_cohort, tidemark_key collate "C" order by tidemark_after))
select tidemark_cohort as cohort, case when size <= 4194304 then line end as line
from (
  select *, sum(octet_length(line)) over (rows unbounded preceding) as size from (
    select null::integer as tidemark_cohort, line from tidemark_observation
    union all
select tidemark_cohort, ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
    union all
select tidemark_cohort, ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b join tidemark_cohorts tidemark_parameters using (tidemark_cohort) where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
SELECT id, size, price, at FROM todo
) v where v."id" = b.tidemark_k1 and coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) = b.tidemark_key and true offset 0
  )
  ) lines
) sized
limit 5002;

-- exact: affected cohorts
with tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, $1, $2)
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_images_1 as materialized (
      select key, old as old from tidemark.unseen(1, $1, $2)
      where key is not null and hashtextextended(old, 0) is distinct from new_hash
    ),
tidemark_versions_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_images_1 where old is not null offset 0) image) i
      union all
      select t.* from (select distinct key[1]::integer as k1 from tidemark_images_1) c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_all_versions_1 as not materialized (
      select t.* from "public"."todo" t union all select m.* from tidemark_versions_1 m where true
    ),
tidemark_cohorts as materialized (
  select unnest((select $3::integer[])) as tidemark_cohort
),
tidemark_candidates as materialized (
      select * from tidemark_cohorts tidemark_parameters where exists (
select v."id" as tidemark_k1, coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) as tidemark_key, (select row_to_json(j.*)::text from (select v."id" as "id", case when v."size" is null then null when v."size" between -9007199254740991 and 9007199254740991 then to_json(v."size") else to_json(v."size"::text) end as "size", case when v."price" is null then null when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price") else to_json(v."price"::text) end as "price", v."at" as "at") j) as tidemark_value from (
SELECT id, size, price, at FROM tidemark_versions_1 AS todo
) v
)
    ),
tidemark_before as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) as tidemark_key, (select row_to_json(j.*)::text from (select v."id" as "id", case when v."size" is null then null when v."size" between -9007199254740991 and 9007199254740991 then to_json(v."size") else to_json(v."size"::text) end as "size", case when v."price" is null then null when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price") else to_json(v."price"::text) end as "price", v."at" as "at") j) as tidemark_value from (
SELECT id, size, price, at FROM tidemark_old_rows_1 AS todo
) v
) r
) r),
tidemark_after as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) as tidemark_key, (select row_to_json(j.*)::text from (select v."id" as "id", case when v."size" is null then null when v."size" between -9007199254740991 and 9007199254740991 then to_json(v."size") else to_json(v."size"::text) end as "size", case when v."price" is null then null when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price") else to_json(v."price"::text) end as "price", v."at" as "at") j) as tidemark_value from (
SELECT id, size, price, at FROM tidemark_new_rows_1 AS todo
) v
) r
) r)
select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_after b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_before o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key and o.tidemark_value = b.tidemark_value) and not exists (
    select from (
SELECT id, size, price, at FROM tidemark_as_of_1 AS todo
) v where v."id" = b.tidemark_k1 and coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) = b.tidemark_key and (select row_to_json(j.*)::text from (select v."id" as "id", case when v."size" is null then null when v."size" between -9007199254740991 and 9007199254740991 then to_json(v."size") else to_json(v."size"::text) end as "size", case when v."price" is null then null when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price") else to_json(v."price"::text) end as "price", v."at" as "at") j) = b.tidemark_value offset 0
  ))
    union
    select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_before b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_after o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key) and not exists (
    select from (
SELECT id, size, price, at FROM todo
) v where v."id" = b.tidemark_k1 and coalesce('o''' || v."id"::text collate "C", tidemark.null_key('exact')) = b.tidemark_key and true offset 0
  ));

-- share: all rows
copy (
with tidemark_observation as materialized (select '' as line)
select line, null, null, null from tidemark_observation
union all
select '0', coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')), v."list_id"::text, v."user_id"::text from (
select * from share where user_id =  ('ada'::pg_catalog.text)
) v
) to stdout;

-- share: ops from its fields
[
  {
    "fields": [
      {
        "before": ",{\"op\":\"put\",\"key\":",
        "isString": true
      },
      {
        "before": ",\"value\":{\"list_id\":",
        "isString": true
      },
      {
        "before": ",\"user_id\":",
        "isString": true
      }
    ],
    "end": "}}\n",
    "isOneLine": false
  }
];

-- share: a delta with checksums
with tidemark_observation as materialized (select '' as line),
tidemark_changed_keys_2 as materialized (
      select distinct on (k1, k2) k1, k2, case when balance > 0 then old end as old
      from (
        select k1, k2, min(image) as old, sum(weight) as balance
        from (
          select key[1]::text as k1, key[2]::text as k2, e.hash, e.image, e.weight
          from tidemark.unseen(2, '{9223372036854775807}', '{18446744073709551615}')
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, k2, hash
        having sum(weight) <> 0
      ) c
      order by k1, k2, balance desc
    ),
tidemark_new_rows_2 as not materialized (
      select t.* from tidemark_changed_keys_2 c join "public"."share" t on c.k1 = t."list_id" and c.k2 = t."user_id"
    ),
tidemark_old_rows_2 as materialized (
      select "list_id", "user_id"
      from (select (image.r).* from (select old::"public"."share" as r from tidemark_changed_keys_2 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_2 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_2 m
    ),
tidemark_as_of_2 as not materialized (
      select u."list_id", u."user_id"
      from (
        select t.*, false as tidemark_is_old from "public"."share" t
        union all
        select m.*, true from tidemark_old_rows_2 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_2 c where c.k1 = u."list_id" and c.k2 = u."user_id")
    ),
tidemark_before_0 as materialized (select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."list_id" as tidemark_k1, v."user_id" as tidemark_k2, coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT * FROM tidemark_old_rows_2 AS share WHERE user_id =  ('ada'::pg_catalog.text)
) v
) r),
tidemark_after_0 as materialized (select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."list_id" as tidemark_k1, v."user_id" as tidemark_k2, coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT * FROM tidemark_new_rows_2 AS share WHERE user_id =  ('ada'::pg_catalog.text)
) v
) r),
tidemark_pairs_0 as materialized (select tidemark_k1, tidemark_k2, tidemark_key, tidemark_value, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select tidemark_k1, tidemark_k2, tidemark_key, tidemark_value, false as tidemark_after from tidemark_before_0 union all select tidemark_k1, tidemark_k2, tidemark_key, tidemark_value, true from tidemark_after_0) r
window pair as (partition by tidemark_key collate "C" order by tidemark_after))
select line from tidemark_observation
union all
select json_build_object('changes', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) as hash from tidemark_pairs_0 b
        where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and not (b.tidemark_other is null and exists (
    select from (
SELECT * FROM tidemark_as_of_2 AS share WHERE user_id =  ('ada'::pg_catalog.text)
) v where v."list_id" = b.tidemark_k1 and v."user_id" = b.tidemark_k2 and coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) = b.tidemark_key and row_to_json(v.*)::text = b.tidemark_value offset 0
  ))
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_other) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and b.tidemark_other is not null
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select * from share where user_id =  ('ada'::pg_catalog.text)
) v where v."list_id" = b.tidemark_k1 and v."user_id" = b.tidemark_k2 and coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) = b.tidemark_key and true offset 0
  )) r cross join generate_series(0, 2) g
    group by cell
  ) c)), 'whole', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((tidemark_key) collate "C", hashtextextended((tidemark_value) collate "C", 0)) & 2147483647) as hash from (select v."list_id" as tidemark_k1, v."user_id" as tidemark_k2, coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
select * from share where user_id =  ('ada'::pg_catalog.text)
) v) r) r cross join generate_series(0, 2) g
    group by cell
  ) c)))::text as line
union all
select ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
union all
select ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b  where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select * from share where user_id =  ('ada'::pg_catalog.text)
) v where v."list_id" = b.tidemark_k1 and v."user_id" = b.tidemark_k2 and coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) = b.tidemark_key and true offset 0
  );

-- share: a delta for several cohorts
with tidemark_observation as materialized (select json_build_object('observation', tidemark.poll($1::xid8[], $2::xid8[], $3::integer[], $4::boolean, $5::uuid, $6::text[]), 'torn', exists (
  select from unnest($7::oid[], $8::bigint[]) expected (oid, fingerprint)
  where tidemark.relation_fingerprint(expected.oid) is distinct from expected.fingerprint
    or not tidemark.shows_table(expected.oid)
))::text as line),
tidemark_cohorts as materialized (
  select unnest((select $9::integer[])) as tidemark_cohort, unnest((select $10::pg_catalog.text[])) as tidemark_p1
),
tidemark_changed_keys_2 as materialized (
      select distinct on (k1, k2) k1, k2, case when balance > 0 then old end as old
      from (
        select k1, k2, min(image) as old, sum(weight) as balance
        from (
          select key[1]::text as k1, key[2]::text as k2, e.hash, e.image, e.weight
          from tidemark.unseen(2, $1, $2)
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, k2, hash
        having sum(weight) <> 0
      ) c
      order by k1, k2, balance desc
    ),
tidemark_new_rows_2 as not materialized (
      select t.* from tidemark_changed_keys_2 c join "public"."share" t on c.k1 = t."list_id" and c.k2 = t."user_id"
    ),
tidemark_old_rows_2 as materialized (
      select "list_id", "user_id"
      from (select (image.r).* from (select old::"public"."share" as r from tidemark_changed_keys_2 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_2 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_2 m
    ),
tidemark_as_of_2 as not materialized (
      select u."list_id", u."user_id"
      from (
        select t.*, false as tidemark_is_old from "public"."share" t
        union all
        select m.*, true from tidemark_old_rows_2 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_2 c where c.k1 = u."list_id" and c.k2 = u."user_id")
    ),
tidemark_before_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."list_id" as tidemark_k1, v."user_id" as tidemark_k2, coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT * FROM tidemark_old_rows_2 AS share WHERE user_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r),
tidemark_after_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."list_id" as tidemark_k1, v."user_id" as tidemark_k2, coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT * FROM tidemark_new_rows_2 AS share WHERE user_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r),
tidemark_pairs_0 as materialized (select tidemark_cohort, tidemark_k1, tidemark_k2, tidemark_key, tidemark_value, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select tidemark_cohort, tidemark_k1, tidemark_k2, tidemark_key, tidemark_value, false as tidemark_after from tidemark_before_0 union all select tidemark_cohort, tidemark_k1, tidemark_k2, tidemark_key, tidemark_value, true from tidemark_after_0) r
window pair as (partition by tidemark_cohort, tidemark_key collate "C" order by tidemark_after))
select tidemark_cohort as cohort, case when size <= 4194304 then line end as line
from (
  select *, sum(octet_length(line)) over (rows unbounded preceding) as size from (
    select null::integer as tidemark_cohort, line from tidemark_observation
    union all
select tidemark_cohort, ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
    union all
select tidemark_cohort, ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b join tidemark_cohorts tidemark_parameters using (tidemark_cohort) where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
SELECT * FROM share WHERE user_id =  (tidemark_parameters.tidemark_p1)
) v where v."list_id" = b.tidemark_k1 and v."user_id" = b.tidemark_k2 and coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) = b.tidemark_key and true offset 0
  )
  ) lines
) sized
limit 5002;

-- share: affected cohorts
with tidemark_changed_keys_2 as materialized (
      select distinct on (k1, k2) k1, k2, case when balance > 0 then old end as old
      from (
        select k1, k2, min(image) as old, sum(weight) as balance
        from (
          select key[1]::text as k1, key[2]::text as k2, e.hash, e.image, e.weight
          from tidemark.unseen(2, $1, $2)
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, k2, hash
        having sum(weight) <> 0
      ) c
      order by k1, k2, balance desc
    ),
tidemark_new_rows_2 as not materialized (
      select t.* from tidemark_changed_keys_2 c join "public"."share" t on c.k1 = t."list_id" and c.k2 = t."user_id"
    ),
tidemark_old_rows_2 as materialized (
      select "list_id", "user_id"
      from (select (image.r).* from (select old::"public"."share" as r from tidemark_changed_keys_2 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_2 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_2 m
    ),
tidemark_as_of_2 as not materialized (
      select u."list_id", u."user_id"
      from (
        select t.*, false as tidemark_is_old from "public"."share" t
        union all
        select m.*, true from tidemark_old_rows_2 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_2 c where c.k1 = u."list_id" and c.k2 = u."user_id")
    ),
tidemark_images_2 as materialized (
      select key, old as old from tidemark.unseen(2, $1, $2)
      where key is not null and hashtextextended(old, 0) is distinct from new_hash
    ),
tidemark_versions_2 as materialized (
      select "list_id", "user_id"
      from (select (image.r).* from (select old::"public"."share" as r from tidemark_images_2 where old is not null offset 0) image) i
      union all
      select t.* from (select distinct key[1]::text as k1, key[2]::text as k2 from tidemark_images_2) c join "public"."share" t on c.k1 = t."list_id" and c.k2 = t."user_id"
    ),
tidemark_all_versions_2 as not materialized (
      select t.* from "public"."share" t union all select m.* from tidemark_versions_2 m where true
    ),
tidemark_cohorts as materialized (
  select unnest((select $3::integer[])) as tidemark_cohort, unnest((select $4::pg_catalog.text[])) as tidemark_p1
),
tidemark_candidates as materialized (
      select * from tidemark_cohorts tidemark_parameters where exists (
select v."list_id" as tidemark_k1, v."user_id" as tidemark_k2, coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT * FROM tidemark_versions_2 AS share WHERE user_id =  (tidemark_parameters.tidemark_p1)
) v
)
    ),
tidemark_before as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."list_id" as tidemark_k1, v."user_id" as tidemark_k2, coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT * FROM tidemark_old_rows_2 AS share WHERE user_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r),
tidemark_after as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."list_id" as tidemark_k1, v."user_id" as tidemark_k2, coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT * FROM tidemark_new_rows_2 AS share WHERE user_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r)
select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_after b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_before o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key and o.tidemark_value = b.tidemark_value) and not exists (
    select from (
SELECT * FROM tidemark_as_of_2 AS share WHERE user_id =  (tidemark_parameters.tidemark_p1)
) v where v."list_id" = b.tidemark_k1 and v."user_id" = b.tidemark_k2 and coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) = b.tidemark_key and row_to_json(v.*)::text = b.tidemark_value offset 0
  ))
    union
    select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_before b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_after o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key) and not exists (
    select from (
SELECT * FROM share WHERE user_id =  (tidemark_parameters.tidemark_p1)
) v where v."list_id" = b.tidemark_k1 and v."user_id" = b.tidemark_k2 and coalesce('share/' || replace(replace(v."list_id"::text collate "C", '%', '%25'), '/', '%2F') || '/' || replace(replace(v."user_id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('share')) = b.tidemark_key and true offset 0
  ));

-- newest: all rows
copy (
with tidemark_observation as materialized (select '' as line)
select line, null, null, null from tidemark_observation
union all
select '0', coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')), v."id"::text, v."title"::text from (
SELECT id, title FROM todo ORDER BY id DESC, id LIMIT 2
) v
) to stdout;

-- newest: ops from its fields
[
  {
    "fields": [
      {
        "before": ",{\"op\":\"put\",\"key\":",
        "isString": true
      },
      {
        "before": ",\"value\":{\"id\":",
        "isString": false
      },
      {
        "before": ",\"title\":",
        "isString": true
      }
    ],
    "end": "}}\n",
    "isOneLine": false
  }
];

-- newest: a delta with checksums
with tidemark_observation as materialized (select '' as line),
tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, '{9223372036854775807}', '{18446744073709551615}')
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_affected_0 as materialized (select p.*, pg_catalog.row_number() over () - 1 as tidemark_index from (
  select tidemark_r1 from (
select p.*, null::bigint as tidemark_row, 0 as tidemark_table from (
SELECT t1.id AS tidemark_r1 FROM tidemark_new_rows_1 AS t1
) p
union all
select p.*, 1 from (
SELECT t1.id AS tidemark_r1, t1.tidemark_row AS tidemark_row FROM tidemark_numbered_old_rows_1 AS t1
) p
) p group by tidemark_r1
) p),
tidemark_affected_0_size as materialized (
        select pg_catalog.count(*) > 200 * 1 as many,
          pg_catalog.ceil(pg_catalog.sqrt(pg_catalog.count(*) / greatest(1, 1)))::bigint as "group_size"
        from tidemark_affected_0
      ),
tidemark_before_0 as materialized ((with tidemark_c as (select * from tidemark_affected_0) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT tidemark_u.id, tidemark_u.title FROM ( (SELECT id, title FROM todo WHERE NOT (EXISTS (SELECT FROM tidemark_c WHERE todo.id = tidemark_c.tidemark_r1 OFFSET 0)) ORDER BY id DESC, id LIMIT 2) UNION ALL SELECT id, title FROM tidemark_as_of_1 AS todo WHERE todo.id IN (SELECT tidemark_c.tidemark_r1 FROM tidemark_c) ) AS tidemark_u ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and not (select many from tidemark_affected_0_size))
union all
(with tidemark_c as (select * from tidemark_affected_0) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM tidemark_as_of_1 AS todo ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and (select many from tidemark_affected_0_size))),
tidemark_after_0 as materialized ((with tidemark_c as (select * from tidemark_affected_0) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM todo ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and not (select many from tidemark_affected_0_size))
union all
(with tidemark_c as (select * from tidemark_affected_0) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM todo ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and (select many from tidemark_affected_0_size))),
tidemark_pairs_0 as materialized (select tidemark_k1, tidemark_key, tidemark_value, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select tidemark_k1, tidemark_key, tidemark_value, false as tidemark_after from tidemark_before_0 union all select tidemark_k1, tidemark_key, tidemark_value, true from tidemark_after_0) r
window pair as (partition by tidemark_key collate "C" order by tidemark_after))
select line from tidemark_observation
union all
select json_build_object('changes', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) as hash from tidemark_pairs_0 b
        where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and not (b.tidemark_other is null and false)
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_other) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and b.tidemark_other is not null
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where not b.tidemark_after and b.tidemark_other is null and not false) r cross join generate_series(0, 2) g
    group by cell
  ) c)), 'whole', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((tidemark_key) collate "C", hashtextextended((tidemark_value) collate "C", 0)) & 2147483647) as hash from (select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM todo ORDER BY id DESC, id LIMIT 2
) v) r) r cross join generate_series(0, 2) g
    group by cell
  ) c)))::text as line
union all
select ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
union all
select ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b  where not b.tidemark_after and b.tidemark_other is null and not false;

-- newest: a delta for several cohorts
with tidemark_observation as materialized (select json_build_object('observation', tidemark.poll($1::xid8[], $2::xid8[], $3::integer[], $4::boolean, $5::uuid, $6::text[]), 'torn', exists (
  select from unnest($7::oid[], $8::bigint[]) expected (oid, fingerprint)
  where tidemark.relation_fingerprint(expected.oid) is distinct from expected.fingerprint
    or not tidemark.shows_table(expected.oid)
))::text as line),
tidemark_cohorts as materialized (
  select unnest((select $9::integer[])) as tidemark_cohort
),
tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, $1, $2)
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_affected_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select p.*, pg_catalog.row_number() over () - 1 as tidemark_index from (
  select tidemark_r1 from (
select p.*, null::bigint as tidemark_row, 0 as tidemark_table from (
SELECT t1.id AS tidemark_r1 FROM tidemark_new_rows_1 AS t1
) p
union all
select p.*, 1 from (
SELECT t1.id AS tidemark_r1, t1.tidemark_row AS tidemark_row FROM tidemark_numbered_old_rows_1 AS t1
) p
) p group by tidemark_r1
) p
) r),
tidemark_affected_0_size as materialized (
        select pg_catalog.count(*) > 200 * pg_catalog.count(distinct tidemark_cohort) as many,
          pg_catalog.ceil(pg_catalog.sqrt(pg_catalog.count(*) / greatest(1, pg_catalog.count(distinct tidemark_cohort))))::bigint as "group_size"
        from tidemark_affected_0
      ),
tidemark_before_0 as materialized ((select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
with tidemark_c as (select * from tidemark_affected_0 where tidemark_cohort = tidemark_parameters.tidemark_cohort) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT tidemark_u.id, tidemark_u.title FROM ( (SELECT id, title FROM todo WHERE NOT (EXISTS (SELECT FROM tidemark_c WHERE todo.id = tidemark_c.tidemark_r1 OFFSET 0)) ORDER BY id DESC, id LIMIT 2) UNION ALL SELECT id, title FROM tidemark_as_of_1 AS todo WHERE todo.id IN (SELECT tidemark_c.tidemark_r1 FROM tidemark_c) ) AS tidemark_u ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and not (select many from tidemark_affected_0_size)
) r)
union all
(select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
with tidemark_c as (select * from tidemark_affected_0 where tidemark_cohort = tidemark_parameters.tidemark_cohort) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM tidemark_as_of_1 AS todo ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and (select many from tidemark_affected_0_size)
) r)),
tidemark_after_0 as materialized ((select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
with tidemark_c as (select * from tidemark_affected_0 where tidemark_cohort = tidemark_parameters.tidemark_cohort) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM todo ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and not (select many from tidemark_affected_0_size)
) r)
union all
(select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
with tidemark_c as (select * from tidemark_affected_0 where tidemark_cohort = tidemark_parameters.tidemark_cohort) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM todo ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and (select many from tidemark_affected_0_size)
) r)),
tidemark_pairs_0 as materialized (select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, false as tidemark_after from tidemark_before_0 union all select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, true from tidemark_after_0) r
window pair as (partition by tidemark_cohort, tidemark_key collate "C" order by tidemark_after))
select tidemark_cohort as cohort, case when size <= 4194304 then line end as line
from (
  select *, sum(octet_length(line)) over (rows unbounded preceding) as size from (
    select null::integer as tidemark_cohort, line from tidemark_observation
    union all
select tidemark_cohort, ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
    union all
select tidemark_cohort, ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b join tidemark_cohorts tidemark_parameters using (tidemark_cohort) where not b.tidemark_after and b.tidemark_other is null and not false
  ) lines
) sized
limit 5002;

-- newest: affected cohorts
with tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, $1, $2)
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_images_1 as materialized (
      select key, old as old from tidemark.unseen(1, $1, $2)
      where key is not null and hashtextextended(old, 0) is distinct from new_hash
    ),
tidemark_versions_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_images_1 where old is not null offset 0) image) i
      union all
      select t.* from (select distinct key[1]::integer as k1 from tidemark_images_1) c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_all_versions_1 as not materialized (
      select t.* from "public"."todo" t union all select m.* from tidemark_versions_1 m where true
    ),
tidemark_cohorts as materialized (
  select unnest((select $3::integer[])) as tidemark_cohort
),
tidemark_candidates as materialized (
      select * from tidemark_cohorts tidemark_parameters where (exists (
SELECT t1.id AS tidemark_r1 FROM tidemark_versions_1 AS t1
))
    ),
tidemark_affected as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select p.*, pg_catalog.row_number() over () - 1 as tidemark_index from (
  select tidemark_r1 from (
select p.*, null::bigint as tidemark_row, 0 as tidemark_table from (
SELECT t1.id AS tidemark_r1 FROM tidemark_new_rows_1 AS t1
) p
union all
select p.*, 1 from (
SELECT t1.id AS tidemark_r1, t1.tidemark_row AS tidemark_row FROM tidemark_numbered_old_rows_1 AS t1
) p
) p group by tidemark_r1
) p
) r),
tidemark_affected_size as materialized (
        select pg_catalog.count(*) > 200 * pg_catalog.count(distinct tidemark_cohort) as many,
          pg_catalog.ceil(pg_catalog.sqrt(pg_catalog.count(*) / greatest(1, pg_catalog.count(distinct tidemark_cohort))))::bigint as "group_size"
        from tidemark_affected
      ),
tidemark_before as materialized ((select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
with tidemark_c as (select * from tidemark_affected where tidemark_cohort = tidemark_parameters.tidemark_cohort) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT tidemark_u.id, tidemark_u.title FROM ( (SELECT id, title FROM todo WHERE NOT (EXISTS (SELECT FROM tidemark_c WHERE todo.id = tidemark_c.tidemark_r1 OFFSET 0)) ORDER BY id DESC, id LIMIT 2) UNION ALL SELECT id, title FROM tidemark_as_of_1 AS todo WHERE todo.id IN (SELECT tidemark_c.tidemark_r1 FROM tidemark_c) ) AS tidemark_u ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and not (select many from tidemark_affected_size)
) r)
union all
(select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
with tidemark_c as (select * from tidemark_affected where tidemark_cohort = tidemark_parameters.tidemark_cohort) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM tidemark_as_of_1 AS todo ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and (select many from tidemark_affected_size)
) r)),
tidemark_after as materialized ((select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
with tidemark_c as (select * from tidemark_affected where tidemark_cohort = tidemark_parameters.tidemark_cohort) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM todo ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and not (select many from tidemark_affected_size)
) r)
union all
(select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
with tidemark_c as (select * from tidemark_affected where tidemark_cohort = tidemark_parameters.tidemark_cohort) select p.* from (
select v."id" as tidemark_k1, coalesce('newest/' || v."id"::text collate "C", tidemark.null_key('newest')) as tidemark_key, row_to_json(v.*)::text as tidemark_value from (
SELECT id, title FROM todo ORDER BY id DESC, id LIMIT 2
) v
) p where exists (select from tidemark_c) and (select many from tidemark_affected_size)
) r))
select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_after b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_before o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key and o.tidemark_value = b.tidemark_value) and not false)
    union
    select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_before b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_after o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key) and not false);

-- chosen: all rows
copy (
with tidemark_observation as materialized (select '' as line)
select line, null, null from tidemark_observation
union all
select '0', tidemark_key, tidemark_value from (select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C") b
) to stdout;

-- chosen: ops from its fields
[
  {
    "fields": [
      {
        "before": ",{\"op\":\"put\",\"key\":",
        "isString": true
      },
      {
        "before": ",\"value\":",
        "isString": false
      }
    ],
    "end": "}\n",
    "isOneLine": false
  }
];

-- chosen: a delta with checksums
with tidemark_observation as materialized (select '' as line),
tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, '{9223372036854775807}', '{18446744073709551615}')
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_affected_0 as materialized (select p.*, pg_catalog.row_number() over () - 1 as tidemark_index from (
  select tidemark_r1, pg_catalog.array_agg(tidemark_row) filter (where tidemark_table = 1) as tidemark_rows_1 from (
select p.*, null::bigint as tidemark_row, 0 as tidemark_table from (
SELECT t1.price AS tidemark_r1 FROM tidemark_new_rows_1 AS t1
) p
union all
select p.*, 1 from (
SELECT t1.price AS tidemark_r1, t1.tidemark_row AS tidemark_row FROM tidemark_numbered_old_rows_1 AS t1
) p
) p group by tidemark_r1
) p),
tidemark_affected_0_size as materialized (
        select pg_catalog.count(*) > 200 * 1 as many,
          pg_catalog.ceil(pg_catalog.sqrt(pg_catalog.count(*) / greatest(1, 1)))::bigint as "group_size"
        from tidemark_affected_0
      ),
tidemark_affected_0_groups as materialized (select distinct tidemark_index / (select "group_size" from tidemark_affected_0_size) as tidemark_group from tidemark_affected_0 where (select many from tidemark_affected_0_size)),
tidemark_before_0 as materialized (select r.* from tidemark_affected_0 tidemark_c  cross join lateral (
with tidemark_some_old_rows_1 as materialized (
      select m."id", m."owner_id", m."title", m."size", m."price", m."at" from tidemark_numbered_old_rows_1 m where m.tidemark_row = any (tidemark_c.tidemark_rows_1)
    ),
tidemark_some_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_some_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    )
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM tidemark_some_as_of_1 AS todo WHERE todo.price = tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where not (select many from tidemark_affected_0_size) and not (tidemark_c.tidemark_r1 is null)
union all
select r.* from tidemark_affected_0 tidemark_c  cross join lateral (
with tidemark_some_old_rows_1 as materialized (
      select m."id", m."owner_id", m."title", m."size", m."price", m."at" from tidemark_numbered_old_rows_1 m where m.tidemark_row = any (tidemark_c.tidemark_rows_1)
    ),
tidemark_some_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_some_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    )
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM tidemark_some_as_of_1 AS todo WHERE todo.price IS NOT DISTINCT FROM tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where tidemark_c.tidemark_r1 is null
union all
select r.* from tidemark_affected_0_groups tidemark_g  cross join lateral (
          with tidemark_c as materialized (select * from (select * from tidemark_affected_0) c where tidemark_index / (select "group_size" from tidemark_affected_0_size) = tidemark_g.tidemark_group)
          select r.* from (
with tidemark_some_old_rows_1 as materialized (
      select m."id", m."owner_id", m."title", m."size", m."price", m."at" from tidemark_numbered_old_rows_1 m where m.tidemark_row in (select unnest(c.tidemark_rows_1) from tidemark_c c)
    ),
tidemark_some_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_some_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    )
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM tidemark_some_as_of_1 AS todo WHERE todo.price IN (SELECT tidemark_c.tidemark_r1 FROM tidemark_c)
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
        ) r),
tidemark_after_0 as materialized (select r.* from tidemark_affected_0 tidemark_c  cross join lateral (
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo WHERE todo.price = tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where not (select many from tidemark_affected_0_size) and not (tidemark_c.tidemark_r1 is null)
union all
select r.* from tidemark_affected_0 tidemark_c  cross join lateral (
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo WHERE todo.price IS NOT DISTINCT FROM tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where tidemark_c.tidemark_r1 is null
union all
select r.* from tidemark_affected_0_groups tidemark_g  cross join lateral (
          with tidemark_c as materialized (select * from (select * from tidemark_affected_0) c where tidemark_index / (select "group_size" from tidemark_affected_0_size) = tidemark_g.tidemark_group)
          select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo WHERE todo.price IN (SELECT tidemark_c.tidemark_r1 FROM tidemark_c)
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
        ) r),
tidemark_pairs_0 as materialized (select tidemark_k1, tidemark_key, tidemark_value, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select tidemark_k1, tidemark_key, tidemark_value, false as tidemark_after from tidemark_before_0 union all select tidemark_k1, tidemark_key, tidemark_value, true from tidemark_after_0) r
window pair as (partition by tidemark_key collate "C" order by tidemark_after))
select line from tidemark_observation
union all
select json_build_object('changes', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) as hash from tidemark_pairs_0 b
        where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and not (b.tidemark_other is null and false)
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_other) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and b.tidemark_other is not null
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where not b.tidemark_after and b.tidemark_other is null and not false) r cross join generate_series(0, 2) g
    group by cell
  ) c)), 'whole', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((tidemark_key) collate "C", hashtextextended((tidemark_value) collate "C", 0)) & 2147483647) as hash from (select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C") r) r cross join generate_series(0, 2) g
    group by cell
  ) c)))::text as line
union all
select ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
union all
select ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b  where not b.tidemark_after and b.tidemark_other is null and not false;

-- chosen: a delta for several cohorts
with tidemark_observation as materialized (select json_build_object('observation', tidemark.poll($1::xid8[], $2::xid8[], $3::integer[], $4::boolean, $5::uuid, $6::text[]), 'torn', exists (
  select from unnest($7::oid[], $8::bigint[]) expected (oid, fingerprint)
  where tidemark.relation_fingerprint(expected.oid) is distinct from expected.fingerprint
    or not tidemark.shows_table(expected.oid)
))::text as line),
tidemark_cohorts as materialized (
  select unnest((select $9::integer[])) as tidemark_cohort
),
tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, $1, $2)
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_affected_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select p.*, pg_catalog.row_number() over () - 1 as tidemark_index from (
  select tidemark_r1, pg_catalog.array_agg(tidemark_row) filter (where tidemark_table = 1) as tidemark_rows_1 from (
select p.*, null::bigint as tidemark_row, 0 as tidemark_table from (
SELECT t1.price AS tidemark_r1 FROM tidemark_new_rows_1 AS t1
) p
union all
select p.*, 1 from (
SELECT t1.price AS tidemark_r1, t1.tidemark_row AS tidemark_row FROM tidemark_numbered_old_rows_1 AS t1
) p
) p group by tidemark_r1
) p
) r),
tidemark_affected_0_size as materialized (
        select pg_catalog.count(*) > 200 * pg_catalog.count(distinct tidemark_cohort) as many,
          pg_catalog.ceil(pg_catalog.sqrt(pg_catalog.count(*) / greatest(1, pg_catalog.count(distinct tidemark_cohort))))::bigint as "group_size"
        from tidemark_affected_0
      ),
tidemark_affected_0_groups as materialized (select distinct tidemark_cohort, tidemark_index / (select "group_size" from tidemark_affected_0_size) as tidemark_group from tidemark_affected_0 where (select many from tidemark_affected_0_size)),
tidemark_before_0 as materialized (select tidemark_cohort, r.* from tidemark_affected_0 tidemark_c join tidemark_cohorts tidemark_parameters using (tidemark_cohort) cross join lateral (
with tidemark_some_old_rows_1 as materialized (
      select m."id", m."owner_id", m."title", m."size", m."price", m."at" from tidemark_numbered_old_rows_1 m where m.tidemark_row = any (tidemark_c.tidemark_rows_1)
    ),
tidemark_some_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_some_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    )
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM tidemark_some_as_of_1 AS todo WHERE todo.price = tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where not (select many from tidemark_affected_0_size) and not (tidemark_c.tidemark_r1 is null)
union all
select tidemark_cohort, r.* from tidemark_affected_0 tidemark_c join tidemark_cohorts tidemark_parameters using (tidemark_cohort) cross join lateral (
with tidemark_some_old_rows_1 as materialized (
      select m."id", m."owner_id", m."title", m."size", m."price", m."at" from tidemark_numbered_old_rows_1 m where m.tidemark_row = any (tidemark_c.tidemark_rows_1)
    ),
tidemark_some_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_some_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    )
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM tidemark_some_as_of_1 AS todo WHERE todo.price IS NOT DISTINCT FROM tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where tidemark_c.tidemark_r1 is null
union all
select tidemark_cohort, r.* from tidemark_affected_0_groups tidemark_g join tidemark_cohorts tidemark_parameters using (tidemark_cohort) cross join lateral (
          with tidemark_c as materialized (select * from (select * from tidemark_affected_0 where tidemark_cohort = tidemark_parameters.tidemark_cohort) c where tidemark_index / (select "group_size" from tidemark_affected_0_size) = tidemark_g.tidemark_group)
          select r.* from (
with tidemark_some_old_rows_1 as materialized (
      select m."id", m."owner_id", m."title", m."size", m."price", m."at" from tidemark_numbered_old_rows_1 m where m.tidemark_row in (select unnest(c.tidemark_rows_1) from tidemark_c c)
    ),
tidemark_some_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_some_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    )
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM tidemark_some_as_of_1 AS todo WHERE todo.price IN (SELECT tidemark_c.tidemark_r1 FROM tidemark_c)
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
        ) r),
tidemark_after_0 as materialized (select tidemark_cohort, r.* from tidemark_affected_0 tidemark_c join tidemark_cohorts tidemark_parameters using (tidemark_cohort) cross join lateral (
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo WHERE todo.price = tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where not (select many from tidemark_affected_0_size) and not (tidemark_c.tidemark_r1 is null)
union all
select tidemark_cohort, r.* from tidemark_affected_0 tidemark_c join tidemark_cohorts tidemark_parameters using (tidemark_cohort) cross join lateral (
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo WHERE todo.price IS NOT DISTINCT FROM tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where tidemark_c.tidemark_r1 is null
union all
select tidemark_cohort, r.* from tidemark_affected_0_groups tidemark_g join tidemark_cohorts tidemark_parameters using (tidemark_cohort) cross join lateral (
          with tidemark_c as materialized (select * from (select * from tidemark_affected_0 where tidemark_cohort = tidemark_parameters.tidemark_cohort) c where tidemark_index / (select "group_size" from tidemark_affected_0_size) = tidemark_g.tidemark_group)
          select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo WHERE todo.price IN (SELECT tidemark_c.tidemark_r1 FROM tidemark_c)
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
        ) r),
tidemark_pairs_0 as materialized (select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, tidemark_after,
  case when tidemark_after then lag(tidemark_value) over pair else lead(tidemark_value) over pair end as tidemark_other
from (select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, false as tidemark_after from tidemark_before_0 union all select tidemark_cohort, tidemark_k1, tidemark_key, tidemark_value, true from tidemark_after_0) r
window pair as (partition by tidemark_cohort, tidemark_key collate "C" order by tidemark_after))
select tidemark_cohort as cohort, case when size <= 4194304 then line end as line
from (
  select *, sum(octet_length(line)) over (rows unbounded preceding) as size from (
    select null::integer as tidemark_cohort, line from tidemark_observation
    union all
select tidemark_cohort, ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
    union all
select tidemark_cohort, ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b join tidemark_cohorts tidemark_parameters using (tidemark_cohort) where not b.tidemark_after and b.tidemark_other is null and not false
  ) lines
) sized
limit 5002;

-- chosen: affected cohorts
with tidemark_changed_keys_1 as materialized (
      select distinct on (k1) k1, case when balance > 0 then old end as old
      from (
        select k1, min(image) as old, sum(weight) as balance
        from (
          select key[1]::integer as k1, e.hash, e.image, e.weight
          from tidemark.unseen(1, $1, $2)
          cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by k1, hash
        having sum(weight) <> 0
      ) c
      order by k1, balance desc
    ),
tidemark_new_rows_1 as not materialized (
      select t.* from tidemark_changed_keys_1 c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_old_rows_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_changed_keys_1 where old is not null offset 0) image) i
    ),
tidemark_numbered_old_rows_1 as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from tidemark_old_rows_1 m
    ),
tidemark_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    ),
tidemark_images_1 as materialized (
      select key, old as old from tidemark.unseen(1, $1, $2)
      where key is not null and hashtextextended(old, 0) is distinct from new_hash
    ),
tidemark_versions_1 as materialized (
      select "id", "owner_id", "title", "size", "price", "at"
      from (select (image.r).* from (select old::"public"."todo" as r from tidemark_images_1 where old is not null offset 0) image) i
      union all
      select t.* from (select distinct key[1]::integer as k1 from tidemark_images_1) c join "public"."todo" t on c.k1 = t."id"
    ),
tidemark_all_versions_1 as not materialized (
      select t.* from "public"."todo" t union all select m.* from tidemark_versions_1 m where true
    ),
tidemark_cohorts as materialized (
  select unnest((select $3::integer[])) as tidemark_cohort
),
tidemark_candidates as materialized (
      select * from tidemark_cohorts tidemark_parameters where (exists (
SELECT t1.price AS tidemark_r1 FROM tidemark_versions_1 AS t1
))
    ),
tidemark_affected as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select p.*, pg_catalog.row_number() over () - 1 as tidemark_index from (
  select tidemark_r1, pg_catalog.array_agg(tidemark_row) filter (where tidemark_table = 1) as tidemark_rows_1 from (
select p.*, null::bigint as tidemark_row, 0 as tidemark_table from (
SELECT t1.price AS tidemark_r1 FROM tidemark_new_rows_1 AS t1
) p
union all
select p.*, 1 from (
SELECT t1.price AS tidemark_r1, t1.tidemark_row AS tidemark_row FROM tidemark_numbered_old_rows_1 AS t1
) p
) p group by tidemark_r1
) p
) r),
tidemark_affected_size as materialized (
        select pg_catalog.count(*) > 200 * pg_catalog.count(distinct tidemark_cohort) as many,
          pg_catalog.ceil(pg_catalog.sqrt(pg_catalog.count(*) / greatest(1, pg_catalog.count(distinct tidemark_cohort))))::bigint as "group_size"
        from tidemark_affected
      ),
tidemark_affected_groups as materialized (select distinct tidemark_cohort, tidemark_index / (select "group_size" from tidemark_affected_size) as tidemark_group from tidemark_affected where (select many from tidemark_affected_size)),
tidemark_before as materialized (select tidemark_cohort, r.* from tidemark_affected tidemark_c join tidemark_candidates tidemark_parameters using (tidemark_cohort) cross join lateral (
with tidemark_some_old_rows_1 as materialized (
      select m."id", m."owner_id", m."title", m."size", m."price", m."at" from tidemark_numbered_old_rows_1 m where m.tidemark_row = any (tidemark_c.tidemark_rows_1)
    ),
tidemark_some_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_some_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    )
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM tidemark_some_as_of_1 AS todo WHERE todo.price = tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where not (select many from tidemark_affected_size) and not (tidemark_c.tidemark_r1 is null)
union all
select tidemark_cohort, r.* from tidemark_affected tidemark_c join tidemark_candidates tidemark_parameters using (tidemark_cohort) cross join lateral (
with tidemark_some_old_rows_1 as materialized (
      select m."id", m."owner_id", m."title", m."size", m."price", m."at" from tidemark_numbered_old_rows_1 m where m.tidemark_row = any (tidemark_c.tidemark_rows_1)
    ),
tidemark_some_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_some_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    )
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM tidemark_some_as_of_1 AS todo WHERE todo.price IS NOT DISTINCT FROM tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where tidemark_c.tidemark_r1 is null
union all
select tidemark_cohort, r.* from tidemark_affected_groups tidemark_g join tidemark_candidates tidemark_parameters using (tidemark_cohort) cross join lateral (
          with tidemark_c as materialized (select * from (select * from tidemark_affected where tidemark_cohort = tidemark_parameters.tidemark_cohort) c where tidemark_index / (select "group_size" from tidemark_affected_size) = tidemark_g.tidemark_group)
          select r.* from (
with tidemark_some_old_rows_1 as materialized (
      select m."id", m."owner_id", m."title", m."size", m."price", m."at" from tidemark_numbered_old_rows_1 m where m.tidemark_row in (select unnest(c.tidemark_rows_1) from tidemark_c c)
    ),
tidemark_some_as_of_1 as not materialized (
      select u."id", u."owner_id", u."title", u."size", u."price", u."at"
      from (
        select t.*, false as tidemark_is_old from "public"."todo" t
        union all
        select m.*, true from tidemark_some_old_rows_1 m where true
      ) u
      where u.tidemark_is_old or not exists (select from tidemark_changed_keys_1 c where c.k1 = u."id")
    )
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM tidemark_some_as_of_1 AS todo WHERE todo.price IN (SELECT tidemark_c.tidemark_r1 FROM tidemark_c)
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
        ) r),
tidemark_after as materialized (select tidemark_cohort, r.* from tidemark_affected tidemark_c join tidemark_candidates tidemark_parameters using (tidemark_cohort) cross join lateral (
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo WHERE todo.price = tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where not (select many from tidemark_affected_size) and not (tidemark_c.tidemark_r1 is null)
union all
select tidemark_cohort, r.* from tidemark_affected tidemark_c join tidemark_candidates tidemark_parameters using (tidemark_cohort) cross join lateral (
select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo WHERE todo.price IS NOT DISTINCT FROM tidemark_c.tidemark_r1
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
) r where tidemark_c.tidemark_r1 is null
union all
select tidemark_cohort, r.* from tidemark_affected_groups tidemark_g join tidemark_candidates tidemark_parameters using (tidemark_cohort) cross join lateral (
          with tidemark_c as materialized (select * from (select * from tidemark_affected where tidemark_cohort = tidemark_parameters.tidemark_cohort) c where tidemark_index / (select "group_size" from tidemark_affected_size) = tidemark_g.tidemark_group)
          select r.* from (
select distinct on (tidemark_k1) tidemark_k1, tidemark_key, tidemark_value from (
select v."p" as tidemark_k1, coalesce('chosen/' || (case when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then (select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then trim_scale(n)::text
    else regexp_replace(ltrim(to_char(n, '9.9999999999999999EEEE')), '[.]?0*e([-+])0?', E'e\\1') end from (select v."p" as n offset 0) d) else v."p"::text end) collate "C", tidemark.null_key('chosen')) as tidemark_key, (select row_to_json(j.*)::text from (select case when v."p" is null then null when length(ltrim(translate(trim_scale(abs(v."p"))::text, '.', ''), '0')) <= 15 and min_scale(v."p") <= 300 then to_json(v."p") else to_json(v."p"::text) end as "p") j) as tidemark_value from (
SELECT price AS p FROM todo WHERE todo.price IN (SELECT tidemark_c.tidemark_r1 FROM tidemark_c)
) v
) e
order by tidemark_k1, tidemark_key collate "C", tidemark_value collate "C"
) r offset 0
        ) r)
select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_after b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_before o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key and o.tidemark_value = b.tidemark_value) and not false)
    union
    select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_before b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_after o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key) and not false);

-- ofUser: all rows
copy (
with tidemark_observation as materialized (select '' as line)
select line, null, null from tidemark_observation
union all
select '0', (('ada/'::pg_catalog.text) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))), v."title"::text from (
select id, owner_id, title from todo where owner_id =  ('ada'::pg_catalog.text)
) v
) to stdout;

-- ofUser: ops from its fields
[
  {
    "fields": [
      {
        "before": ",{\"op\":\"put\",\"key\":",
        "isString": true
      },
      {
        "before": ",\"value\":",
        "isString": true
      }
    ],
    "end": "}\n",
    "isOneLine": false
  }
];

-- ofUser: a delta with checksums
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
tidemark_before_0 as materialized (select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."owner_id" as tidemark_k1, v."id" as tidemark_k2, (('ada/'::pg_catalog.text) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) as tidemark_key, coalesce(to_json(v."title"::text)::text, 'null') as tidemark_value from (
SELECT id, owner_id, title FROM tidemark_old_rows_1 AS todo WHERE owner_id =  ('ada'::pg_catalog.text)
) v
) r),
tidemark_after_0 as materialized (select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."owner_id" as tidemark_k1, v."id" as tidemark_k2, (('ada/'::pg_catalog.text) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) as tidemark_key, coalesce(to_json(v."title"::text)::text, 'null') as tidemark_value from (
SELECT id, owner_id, title FROM tidemark_new_rows_1 AS todo WHERE owner_id =  ('ada'::pg_catalog.text)
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
SELECT id, owner_id, title FROM tidemark_as_of_1 AS todo WHERE owner_id =  ('ada'::pg_catalog.text)
) v where v."owner_id" = b.tidemark_k1 and v."id" = b.tidemark_k2 and (('ada/'::pg_catalog.text) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) = b.tidemark_key and coalesce(to_json(v."title"::text)::text, 'null') = b.tidemark_value offset 0
  ))
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_other) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and b.tidemark_other is not null
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select id, owner_id, title from todo where owner_id =  ('ada'::pg_catalog.text)
) v where v."owner_id" = b.tidemark_k1 and v."id" = b.tidemark_k2 and (('ada/'::pg_catalog.text) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) = b.tidemark_key and true offset 0
  )) r cross join generate_series(0, 2) g
    group by cell
  ) c)), 'whole', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((tidemark_key) collate "C", hashtextextended((tidemark_value) collate "C", 0)) & 2147483647) as hash from (select v."owner_id" as tidemark_k1, v."id" as tidemark_k2, (('ada/'::pg_catalog.text) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) as tidemark_key, coalesce(to_json(v."title"::text)::text, 'null') as tidemark_value from (
select id, owner_id, title from todo where owner_id =  ('ada'::pg_catalog.text)
) v) r) r cross join generate_series(0, 2) g
    group by cell
  ) c)))::text as line
union all
select ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
union all
select ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b  where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select id, owner_id, title from todo where owner_id =  ('ada'::pg_catalog.text)
) v where v."owner_id" = b.tidemark_k1 and v."id" = b.tidemark_k2 and (('ada/'::pg_catalog.text) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) = b.tidemark_key and true offset 0
  );

-- ofUser: a delta for several cohorts
with tidemark_observation as materialized (select json_build_object('observation', tidemark.poll($1::xid8[], $2::xid8[], $3::integer[], $4::boolean, $5::uuid, $6::text[]), 'torn', exists (
  select from unnest($7::oid[], $8::bigint[]) expected (oid, fingerprint)
  where tidemark.relation_fingerprint(expected.oid) is distinct from expected.fingerprint
    or not tidemark.shows_table(expected.oid)
))::text as line),
tidemark_cohorts as materialized (
  select unnest((select $9::integer[])) as tidemark_cohort, unnest((select $10::pg_catalog.text[])) as tidemark_p1, unnest((select $11::pg_catalog.text[])) as tidemark_p2
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
select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."owner_id" as tidemark_k1, v."id" as tidemark_k2, ((tidemark_parameters.tidemark_p2) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) as tidemark_key, coalesce(to_json(v."title"::text)::text, 'null') as tidemark_value from (
SELECT id, owner_id, title FROM tidemark_old_rows_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r),
tidemark_after_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."owner_id" as tidemark_k1, v."id" as tidemark_k2, ((tidemark_parameters.tidemark_p2) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) as tidemark_key, coalesce(to_json(v."title"::text)::text, 'null') as tidemark_value from (
SELECT id, owner_id, title FROM tidemark_new_rows_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
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
SELECT id, owner_id, title FROM todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v where v."owner_id" = b.tidemark_k1 and v."id" = b.tidemark_k2 and ((tidemark_parameters.tidemark_p2) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) = b.tidemark_key and true offset 0
  )
  ) lines
) sized
limit 5002;

-- ofUser: affected cohorts
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
  select unnest((select $3::integer[])) as tidemark_cohort, unnest((select $4::pg_catalog.text[])) as tidemark_p1, unnest((select $5::pg_catalog.text[])) as tidemark_p2
),
tidemark_candidates as materialized (
      select * from tidemark_cohorts tidemark_parameters where exists (
select v."owner_id" as tidemark_k1, v."id" as tidemark_k2, ((tidemark_parameters.tidemark_p2) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) as tidemark_key, coalesce(to_json(v."title"::text)::text, 'null') as tidemark_value from (
SELECT id, owner_id, title FROM tidemark_versions_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v
)
    ),
tidemark_before as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."owner_id" as tidemark_k1, v."id" as tidemark_k2, ((tidemark_parameters.tidemark_p2) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) as tidemark_key, coalesce(to_json(v."title"::text)::text, 'null') as tidemark_value from (
SELECT id, owner_id, title FROM tidemark_old_rows_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r),
tidemark_after as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_k2, tidemark_key, tidemark_value from (
select v."owner_id" as tidemark_k1, v."id" as tidemark_k2, ((tidemark_parameters.tidemark_p2) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) as tidemark_key, coalesce(to_json(v."title"::text)::text, 'null') as tidemark_value from (
SELECT id, owner_id, title FROM tidemark_new_rows_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v
) r
) r)
select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_after b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_before o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key and o.tidemark_value = b.tidemark_value) and not exists (
    select from (
SELECT id, owner_id, title FROM tidemark_as_of_1 AS todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v where v."owner_id" = b.tidemark_k1 and v."id" = b.tidemark_k2 and ((tidemark_parameters.tidemark_p2) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) = b.tidemark_key and coalesce(to_json(v."title"::text)::text, 'null') = b.tidemark_value offset 0
  ))
    union
    select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_before b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_after o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key) and not exists (
    select from (
SELECT id, owner_id, title FROM todo WHERE owner_id =  (tidemark_parameters.tidemark_p1)
) v where v."owner_id" = b.tidemark_k1 and v."id" = b.tidemark_k2 and ((tidemark_parameters.tidemark_p2) || coalesce('owner/' || replace(replace(v."owner_id"::text collate "C", '%', '%25'), '/', '%2F') || '/todo/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('ofUser'))) = b.tidemark_key and true offset 0
  ));

-- present: all rows
copy (
with tidemark_observation as materialized (select '' as line)
select line, null, null, null, null, null from tidemark_observation
union all
select '0', coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')), v."id"::text, v."owner_id"::text, v."title"::text, (to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end from (
select id, owner_id, title, at from todo
) v
) to stdout;

-- present: ops from its fields
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
        "before": ",\"ownerId\":",
        "isString": true,
        "omitsNull": true
      },
      {
        "before": ",\"title\":",
        "isString": true,
        "omitsNull": true
      },
      {
        "before": ",\"at\":",
        "isString": true,
        "omitsNull": true
      }
    ],
    "end": "}}\n",
    "isOneLine": false
  }
];

-- present: a delta with checksums
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
select v."id" as tidemark_k1, coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) as tidemark_key, coalesce('{"id":' || v."id"::text, '{"id":null') || coalesce(',"ownerId":' || to_json(v."owner_id"::text)::text, '') || coalesce(',"title":' || to_json(v."title"::text)::text, '') || coalesce(',"at":' || to_json((to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end)::text, '') || '}' as tidemark_value from (
SELECT id, owner_id, title, at FROM tidemark_old_rows_1 AS todo
) v
) r),
tidemark_after_0 as materialized (select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) as tidemark_key, coalesce('{"id":' || v."id"::text, '{"id":null') || coalesce(',"ownerId":' || to_json(v."owner_id"::text)::text, '') || coalesce(',"title":' || to_json(v."title"::text)::text, '') || coalesce(',"at":' || to_json((to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end)::text, '') || '}' as tidemark_value from (
SELECT id, owner_id, title, at FROM tidemark_new_rows_1 AS todo
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
SELECT id, owner_id, title, at FROM tidemark_as_of_1 AS todo
) v where v."id" = b.tidemark_k1 and coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) = b.tidemark_key and coalesce('{"id":' || v."id"::text, '{"id":null') || coalesce(',"ownerId":' || to_json(v."owner_id"::text)::text, '') || coalesce(',"title":' || to_json(v."title"::text)::text, '') || coalesce(',"at":' || to_json((to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end)::text, '') || '}' = b.tidemark_value offset 0
  ))
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_other) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and b.tidemark_other is not null
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select id, owner_id, title, at from todo
) v where v."id" = b.tidemark_k1 and coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) = b.tidemark_key and true offset 0
  )) r cross join generate_series(0, 2) g
    group by cell
  ) c)), 'whole', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((tidemark_key) collate "C", hashtextextended((tidemark_value) collate "C", 0)) & 2147483647) as hash from (select v."id" as tidemark_k1, coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) as tidemark_key, coalesce('{"id":' || v."id"::text, '{"id":null') || coalesce(',"ownerId":' || to_json(v."owner_id"::text)::text, '') || coalesce(',"title":' || to_json(v."title"::text)::text, '') || coalesce(',"at":' || to_json((to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end)::text, '') || '}' as tidemark_value from (
select id, owner_id, title, at from todo
) v) r) r cross join generate_series(0, 2) g
    group by cell
  ) c)))::text as line
union all
select ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
union all
select ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b  where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select id, owner_id, title, at from todo
) v where v."id" = b.tidemark_k1 and coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) = b.tidemark_key and true offset 0
  );

-- present: a delta for several cohorts
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
select v."id" as tidemark_k1, coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) as tidemark_key, coalesce('{"id":' || v."id"::text, '{"id":null') || coalesce(',"ownerId":' || to_json(v."owner_id"::text)::text, '') || coalesce(',"title":' || to_json(v."title"::text)::text, '') || coalesce(',"at":' || to_json((to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end)::text, '') || '}' as tidemark_value from (
SELECT id, owner_id, title, at FROM tidemark_old_rows_1 AS todo
) v
) r
) r),
tidemark_after_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) as tidemark_key, coalesce('{"id":' || v."id"::text, '{"id":null') || coalesce(',"ownerId":' || to_json(v."owner_id"::text)::text, '') || coalesce(',"title":' || to_json(v."title"::text)::text, '') || coalesce(',"at":' || to_json((to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end)::text, '') || '}' as tidemark_value from (
SELECT id, owner_id, title, at FROM tidemark_new_rows_1 AS todo
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
SELECT id, owner_id, title, at FROM todo
) v where v."id" = b.tidemark_k1 and coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) = b.tidemark_key and true offset 0
  )
  ) lines
) sized
limit 5002;

-- present: affected cohorts
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
select v."id" as tidemark_k1, coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) as tidemark_key, coalesce('{"id":' || v."id"::text, '{"id":null') || coalesce(',"ownerId":' || to_json(v."owner_id"::text)::text, '') || coalesce(',"title":' || to_json(v."title"::text)::text, '') || coalesce(',"at":' || to_json((to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end)::text, '') || '}' as tidemark_value from (
SELECT id, owner_id, title, at FROM tidemark_versions_1 AS todo
) v
)
    ),
tidemark_before as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) as tidemark_key, coalesce('{"id":' || v."id"::text, '{"id":null') || coalesce(',"ownerId":' || to_json(v."owner_id"::text)::text, '') || coalesce(',"title":' || to_json(v."title"::text)::text, '') || coalesce(',"at":' || to_json((to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end)::text, '') || '}' as tidemark_value from (
SELECT id, owner_id, title, at FROM tidemark_old_rows_1 AS todo
) v
) r
) r),
tidemark_after as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) as tidemark_key, coalesce('{"id":' || v."id"::text, '{"id":null') || coalesce(',"ownerId":' || to_json(v."owner_id"::text)::text, '') || coalesce(',"title":' || to_json(v."title"::text)::text, '') || coalesce(',"at":' || to_json((to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end)::text, '') || '}' as tidemark_value from (
SELECT id, owner_id, title, at FROM tidemark_new_rows_1 AS todo
) v
) r
) r)
select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_after b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_before o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key and o.tidemark_value = b.tidemark_value) and not exists (
    select from (
SELECT id, owner_id, title, at FROM tidemark_as_of_1 AS todo
) v where v."id" = b.tidemark_k1 and coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) = b.tidemark_key and coalesce('{"id":' || v."id"::text, '{"id":null') || coalesce(',"ownerId":' || to_json(v."owner_id"::text)::text, '') || coalesce(',"title":' || to_json(v."title"::text)::text, '') || coalesce(',"at":' || to_json((to_json(v."at" at time zone 'UTC') #>> '{}') || case when v."at" between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then 'Z' else '' end)::text, '') || '}' = b.tidemark_value offset 0
  ))
    union
    select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_before b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_after o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key) and not exists (
    select from (
SELECT id, owner_id, title, at FROM todo
) v where v."id" = b.tidemark_k1 and coalesce('present/' || v."id"::text collate "C", tidemark.null_key('present')) = b.tidemark_key and true offset 0
  ));

-- number: all rows
copy (
with tidemark_observation as materialized (select '' as line)
select line, null, null from tidemark_observation
union all
select '0', coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')), case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end from (
select id, price from todo
) v
) to stdout;

-- number: ops from its fields
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

-- number: a delta with checksums
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
select v."id" as tidemark_k1, coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) as tidemark_key, coalesce(case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, 'null') as tidemark_value from (
SELECT id, price FROM tidemark_old_rows_1 AS todo
) v
) r),
tidemark_after_0 as materialized (select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) as tidemark_key, coalesce(case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, 'null') as tidemark_value from (
SELECT id, price FROM tidemark_new_rows_1 AS todo
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
SELECT id, price FROM tidemark_as_of_1 AS todo
) v where v."id" = b.tidemark_k1 and coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) = b.tidemark_key and coalesce(case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, 'null') = b.tidemark_value offset 0
  ))
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_other) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value) and b.tidemark_other is not null
      union all select -1, (hashtextextended((b.tidemark_key) collate "C", hashtextextended((b.tidemark_value) collate "C", 0)) & 2147483647) from tidemark_pairs_0 b where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select id, price from todo
) v where v."id" = b.tidemark_k1 and coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) = b.tidemark_key and true offset 0
  )) r cross join generate_series(0, 2) g
    group by cell
  ) c)), 'whole', json_build_array((select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << 3) + (hash >> (g * 3) & 7) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (select 1 as weight, (hashtextextended((tidemark_key) collate "C", hashtextextended((tidemark_value) collate "C", 0)) & 2147483647) as hash from (select v."id" as tidemark_k1, coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) as tidemark_key, coalesce(case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, 'null') as tidemark_value from (
select id, price from todo
) v) r) r cross join generate_series(0, 2) g
    group by cell
  ) c)))::text as line
union all
select ',{"op":"put","key":' || to_json(b.tidemark_key)::text || ',"value":' || b.tidemark_value || '}' from tidemark_pairs_0 b where b.tidemark_after and (b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)
union all
select ',{"op":"del","key":' || to_json(b.tidemark_key)::text || '}' from tidemark_pairs_0 b  where not b.tidemark_after and b.tidemark_other is null and not exists (
    select from (
select id, price from todo
) v where v."id" = b.tidemark_k1 and coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) = b.tidemark_key and true offset 0
  );

-- number: a delta for several cohorts
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
select v."id" as tidemark_k1, coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) as tidemark_key, coalesce(case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, 'null') as tidemark_value from (
SELECT id, price FROM tidemark_old_rows_1 AS todo
) v
) r
) r),
tidemark_after_0 as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_cohorts tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) as tidemark_key, coalesce(case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, 'null') as tidemark_value from (
SELECT id, price FROM tidemark_new_rows_1 AS todo
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
SELECT id, price FROM todo
) v where v."id" = b.tidemark_k1 and coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) = b.tidemark_key and true offset 0
  )
  ) lines
) sized
limit 5002;

-- number: affected cohorts
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
select v."id" as tidemark_k1, coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) as tidemark_key, coalesce(case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, 'null') as tidemark_value from (
SELECT id, price FROM tidemark_versions_1 AS todo
) v
)
    ),
tidemark_before as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) as tidemark_key, coalesce(case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, 'null') as tidemark_value from (
SELECT id, price FROM tidemark_old_rows_1 AS todo
) v
) r
) r),
tidemark_after as materialized (select tidemark_parameters.tidemark_cohort, r.* from tidemark_candidates tidemark_parameters cross join lateral (
select distinct on (tidemark_key) tidemark_k1, tidemark_key, tidemark_value from (
select v."id" as tidemark_k1, coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) as tidemark_key, coalesce(case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, 'null') as tidemark_value from (
SELECT id, price FROM tidemark_new_rows_1 AS todo
) v
) r
) r)
select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_after b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_before o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key and o.tidemark_value = b.tidemark_value) and not exists (
    select from (
SELECT id, price FROM tidemark_as_of_1 AS todo
) v where v."id" = b.tidemark_k1 and coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) = b.tidemark_key and coalesce(case when length(ltrim(translate(trim_scale(abs(v."price"))::text, '.', ''), '0')) <= 15 and min_scale(v."price") <= 300 then to_json(v."price")::text else to_json(v."price"::text)::text end, 'null') = b.tidemark_value offset 0
  ))
    union
    select tidemark_cohort as cohort from tidemark_candidates tidemark_parameters
    where exists (select from tidemark_before b where b.tidemark_cohort = tidemark_parameters.tidemark_cohort and not exists (select from tidemark_after o where o.tidemark_cohort = b.tidemark_cohort and o.tidemark_key = b.tidemark_key) and not exists (
    select from (
SELECT id, price FROM todo
) v where v."id" = b.tidemark_k1 and coalesce('price/' || replace(replace(v."id"::text collate "C", '%', '%25'), '/', '%2F'), tidemark.null_key('number')) = b.tidemark_key and true offset 0
  ));

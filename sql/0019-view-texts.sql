-- The views that clients hold, by the digest that their cookies have: once an application serves others, they tell what a
-- client has that is to be taken away. Nothing depends on a row but speed: without it, the client is reset.
create table tidemark.view_text (
  digest text primary key,
  definition text not null,
  -- When a server began to serve it, to the day.
  at timestamptz not null default clock_timestamp()
);

-- Whoever may read and write ticks may do the same with views.
do $$
declare
  granted record;
begin
  for granted in
    select a.grantee, a.privilege_type from pg_class c, aclexplode(c.relacl) a
    where c.oid = 'tidemark.tick'::regclass and a.grantee <> c.relowner and a.privilege_type in ('SELECT', 'INSERT', 'DELETE')
  loop
    execute format('grant %s on tidemark.view_text to %s', granted.privilege_type,
      case granted.grantee when 0 then 'public' else granted.grantee::regrole::text end);
  end loop;
end
$$;

-- Keeps views that a server serves, and the newest thousand in all. On a standby it does nothing, nor
-- for a role that may not. Servers that start at
-- the same time, with the same views, wait for each other.
create function tidemark.keep_views(digests text[], definitions text[]) returns void
language plpgsql volatile parallel unsafe as $$
begin
  if current_setting('transaction_read_only')::boolean
    or not has_table_privilege('tidemark.view_text', 'insert') or not has_table_privilege('tidemark.view_text', 'delete') then
    return;
  end if;
  if not exists (
    select from unnest(digests) asked (digest)
    left join tidemark.view_text known on known.digest = asked.digest and at > clock_timestamp() - interval '1 day'
    where known.digest is null
  ) then
    return;
  end if;
  lock table tidemark.view_text in share row exclusive mode;
  delete from tidemark.view_text where digest = any (digests) and at < clock_timestamp() - interval '1 day';
  insert into tidemark.view_text (digest, definition)
  select * from unnest(digests, definitions) kept (digest, definition)
  on conflict do nothing;
  if found then
    delete from tidemark.view_text
    where digest in (select digest from tidemark.view_text order by at desc, digest offset 1000);
  end if;
end
$$;

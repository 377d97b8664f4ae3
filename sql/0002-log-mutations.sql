-- The change log also records to which client group each applied mutation belongs: a mutation that changes no table
-- must be confirmed too.
create function tidemark.log_mutation() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tidemark.change (table_id, xid, key) values (0, new.xid, array[new.client_group_id]);
  return null;
end
$$;
-- Otherwise, anyone who can see the schema could call it from a trigger of their own.
revoke all on function tidemark.log_mutation() from public;

create trigger tidemark_mutation after insert or update of last_mutation_id on tidemark.client
  for each row execute function tidemark.log_mutation();
alter table tidemark.client enable always trigger tidemark_mutation;

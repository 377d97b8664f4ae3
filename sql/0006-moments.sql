-- Views convert text to dates and times through this function. "now" and similar words mean a different moment each
-- time, so no snapshot could tell what a client holds.
create function tidemark.fixed_moment(value text) returns text language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if value ~* '(^|[^a-z])(now|today|tomorrow|yesterday)([^a-z]|$)' then
    raise exception 'a view cannot read text such as "now" as a date or time: its meaning changes' using errcode = 'invalid_datetime_format';
  end if;
  return value;
end
$$;

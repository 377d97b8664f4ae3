-- How the log is read does not depend on how many transactions a snapshot has not seen. But Postgres expects an array whose
-- length it does not know to have ten elements, so it would plan for each shorter one anew, which takes longer than
-- reading. And while the log is small, Postgres would plan to read all of it, and keep that plan as the log grows.
alter function tidemark.unseen(integer, xid8[], xid8[])
  set plan_cache_mode = force_generic_plan set enable_seqscan = off;
alter function tidemark.look(xid8[], xid8[], integer[], boolean, uuid, text[])
  set plan_cache_mode = force_generic_plan set enable_seqscan = off;

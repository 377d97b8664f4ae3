-- Nothing reads the order in which changes were logged, and each row paid for it.
alter table tidemark.change drop column seq;

-- As old changes are deleted all the time, their space should be free for new ones soon.
alter table tidemark.change set (autovacuum_vacuum_scale_factor = 0.05);

-- How large the log rows are that became final between the previous tick and this one, about as on disk. Null if that
-- was not measured.
alter table tidemark.tick add column bytes bigint;

#!lua flags=allow-oom
-- prune: drop what is past its retention or over the count.
--
-- KEYS
--   jobs        hash  job -> head and body
--   state       hash  job -> record
--   ended       zset  job -> kept until, ms
--   dead        zset  job -> kept until, ms
--   tombstones  zset  pruned job -> recognised until, ms
-- ARGV
--   limits  msgpack map: retained_jobs, dead_jobs, window
--   limit   how many at the most
-- RETURNS
--   how many were dropped
--
--@include lib/now.lua
--@include lib/limits.lua
--@include lib/prune_all.lua
return prune_all(tonumber(A.limit))

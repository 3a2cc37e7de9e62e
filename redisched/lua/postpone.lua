#!lua flags=allow-oom
-- postpone: a schedule whose definition cannot be read steps aside, so that it does not stand in
-- the way of the others.
--
-- KEYS
--   schedules  zset  schedule -> next slot, ms
--   stats      hash  counters
-- ARGV
--   name  the schedule
--   by    for how long, ms
-- RETURNS
--   1 postponed, 0 it is gone
--
--@include lib/now.lua
if not redis.call('ZSCORE', K.schedules, A.name) then return 0 end
redis.call('ZADD', K.schedules, 'XX', NOW + tonumber(A.by), A.name)
redis.call('HINCRBY', K.stats, 'unreadable_schedules', 1)
return 1

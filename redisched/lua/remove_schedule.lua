#!lua flags=allow-oom
-- remove_schedule: every trace of a schedule goes; after the reply it fires no more.
--
-- KEYS
--   schedules    zset    schedule -> next slot, ms
--   definitions  hash    schedule -> definition
--   op           string  this call's answer, for a while
-- ARGV
--   name  the schedule
-- RETURNS
--   1 removed, 0 there was none
--
--@include lib/once.lua
local function remove()
  redis.call('ZREM', K.schedules, A.name)
  return redis.call('HDEL', K.definitions, A.name)
end

return once(remove)

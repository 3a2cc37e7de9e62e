#!lua
-- put_schedule: create or edit a schedule. The same spec again changes nothing.
--
-- KEYS
--   schedules    zset    schedule -> next slot, ms
--   definitions  hash    schedule -> definition
--   versions     string  counter of generations and versions
--   wake         list    a hint that work is there
--   timer        string  which waiter watches which instant
--   op           string  this call's answer, for a while
-- ARGV
--   name  the schedule
--   spec  its packed calendar, call and policies
--   after  the moment from which the next slot was computed, ms
--   next  its next slot, ms; empty: it has none
--   wall  local time as of now in its zone, the cursor of an edited schedule; empty: it has none
-- RETURNS
--   1 created, 2 edited, 0 unchanged
--
--@include lib/definition.lua
--@include lib/wake.lua
--@include lib/once.lua
local function put()
  local old, next_slot = definition_of(A.name), tonumber(A.next)
  if old and old[SPEC] == A.spec then return 0 end
  local after = tonumber(A.after)
  local definition = { redis.call('INCR', K.versions), 1, 0, after, '', 0, A.spec }
  if old then
    local cursor = math.max(after, old[LAST_SLOT])
    definition = { old[INCARNATION], old[REVISION] + 1, old[PAUSED], cursor, A.wall, old[FIRED], A.spec }
  end
  if next_slot and next_slot <= definition[LAST_SLOT] then next_slot = definition[LAST_SLOT] + 1 end
  put_definition(A.name, definition)
  if next_slot and definition[PAUSED] == 0 then
    redis.call('ZADD', K.schedules, next_slot, A.name)
    wake_before(next_slot)
  else
    redis.call('ZREM', K.schedules, A.name)
  end
  return old and 2 or 1
end

return once(put)

#!lua
-- fire: slots become jobs. Compare revision and cursor, SET NX the slot, enqueue and advance: one
-- step, so that of many workers one wins, and a crash leaves either both the job and the cursor or none.
--
-- KEYS
--   jobs         hash    job -> head and body
--   state        hash    job -> record
--   scheduled    zset    entry -> run time, ms
--   ready:0      list    entries
--   ready:1      list    entries
--   ready:2      list    entries
--   ready:3      list    entries
--   unique       hash    unique key -> the job that holds it
--   unclaimed    zset    job -> when its being unclaimed is an alarm, ms
--   schedules    zset    schedule -> next slot, ms
--   definitions  hash    schedule -> definition
--   versions     string  counter of generations and versions
--   stats        hash    counters
--   wake         list    a hint that work is there
--   timer        string  which waiter watches which instant
--   slot...      string  slot:<name>:<incarnation>:<id>, the job that the slot became
-- ARGV
--   slots  msgpack list of [name, revision, slot, wall, next, job, counted]; see lib/fire_slot.lua
--   keep   how long a slot key is kept, ms
-- RETURNS
--   for each slot: 1 fired, 0 someone else did or the schedule has changed, 2 passed over
--
--@include lib/now.lua
--@include lib/fire_slot.lua
--@include lib/wake.lua
local replies, fired, soonest = {}, 0, math.huge
for i, slot in ipairs(cmsgpack.unpack(A.slots)) do
  local reply, next_slot = fire_slot(slot, SLOTS[i], A.keep)
  replies[i] = reply
  if reply == 1 then fired = fired + 1 end
  if next_slot then soonest = math.min(soonest, next_slot) end
end
if fired > 0 then
  redis.call('HINCRBY', K.stats, 'fired', fired)
  wake()
end
if soonest < math.huge then wake_before(soonest) end
return replies

#!lua
-- enqueue: store 1 to n jobs, for now or for later. The same id again stores nothing.
--
-- KEYS
--   jobs       hash    job -> head and body
--   state      hash    job -> record
--   scheduled  zset    entry -> run time, ms
--   ready:0    list    entries, first in first out
--   ready:1    list    entries
--   ready:2    list    entries
--   ready:3    list    entries
--   unique     hash    unique key -> the job that holds it
--   unclaimed  zset    job -> when its being unclaimed is an alarm, ms
--   versions   string  counter of generations and versions
--   stats      hash    counters
--   wake       list    a hint that work is there
--   timer      string  which waiter watches which instant
-- ARGV
--   jobs  msgpack list of [id, body, at, delay, priority, expires, unclaimed, retention, unique]
-- RETURNS
--   for each job: 1 stored, 0 it was there, or the id of the job that holds its unique key
--
--@include lib/now.lua
--@include lib/store_job.lua
--@include lib/holder.lua
--@include lib/wake.lua
local replies, stored, earliest, seen, held = {}, 0, math.huge, {}, {}
for i, job in ipairs(cmsgpack.unpack(A.jobs)) do
  local id, unique = job[1], job[9]
  local holder = unique and (held[unique] or holder_of(unique))
  if seen[id] or redis.call('HEXISTS', K.jobs, id) == 1 then
    replies[i] = 0
  elseif holder then
    replies[i] = holder
  else
    earliest = math.min(earliest, store_job(job))
    replies[i], stored, seen[id] = 1, stored + 1, true
    if unique then held[unique] = id end
  end
end
if stored > 0 then
  flush()
  redis.call('HINCRBY', K.stats, 'enqueued', stored)
  if earliest <= NOW then wake() else wake_before(earliest) end
end
return replies

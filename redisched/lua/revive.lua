#!lua
-- revive: an ended job runs again, with its deliveries and attempts counted anew.
--
-- KEYS
--   jobs       hash    job -> head and body
--   state      hash    job -> record
--   scheduled  zset    entry -> run time, ms
--   ready:0    list    entries
--   ready:1    list    entries
--   ready:2    list    entries
--   ready:3    list    entries
--   unique     hash    unique key -> the job that holds it
--   unclaimed  zset    job -> when its being unclaimed is an alarm, ms
--   ended      zset    job -> kept until, ms
--   dead       zset    job -> kept until, ms
--   versions   string  counter of generations and versions
--   stats      hash    counters
--   wake       list    a hint that work is there
--   timer      string  which waiter watches which instant
--   op         string  this call's answer, for a while
-- ARGV
--   id  the job
-- RETURNS
--   1 revived, 2 it has not ended, 0 not found, or the id of the job that holds its unique key
--
--@include lib/now.lua
--@include lib/withdraw.lua
--@include lib/holder.lua
--@include lib/wake.lua
--@include lib/once.lua
local function revive()
  local record = load(A.id)
  if not record then return 0 end
  if record.status < SUCCEEDED then return 2 end
  local holder = record.unique ~= '' and holder_of(record.unique)
  if holder then return holder end
  if record.unique ~= '' then write('HSET', K.unique, record.unique, A.id) end
  local shelf = record.status == DEAD and K.dead or K.ended
  record.attempts, record.deliveries, record.flags, record.due, record.ended = 0, 0, 0, NOW, 0
  place(A.id, record, NOW)
  write('ZREM', shelf, A.id)
  flush()
  redis.call('HINCRBY', K.stats, 'revived', 1)
  wake()
  return 1
end

return once(revive)

#!lua flags=allow-oom
-- cancel: end a waiting job; ask a running one to stop.
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
--   op         string  this call's answer, for a while
-- ARGV
--   id         the job
--   retention  how long a cancelled job is kept by default, ms
-- RETURNS
--   1 cancelled, 2 running: asked to stop, 3 had ended, 0 not found
--
--@include lib/now.lua
--@include lib/withdraw.lua
--@include lib/once.lua
local function cancel()
  local record = load(A.id)
  if not record then return 0 end
  if record.status == PROCESSING then
    record.flags = bit.bor(record.flags, STOP)
    redis.call('HSET', K.state, A.id, encode(record))
    return 2
  elseif record.status ~= WAITING then
    return 3
  end
  finish(A.id, record, CANCELLED, 'cancelled', record.outcome, tonumber(A.retention))
  flush()
  withdraw(entry(A.id, record))
  redis.call('HINCRBY', K.stats, 'cancelled', 1)
  return 1
end

return once(cancel)

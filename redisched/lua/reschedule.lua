#!lua
-- reschedule: give a waiting job another run time.
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
--   id     the job
--   at     new run time, ms; empty: by delay
--   delay  from now, ms; empty: by at
-- RETURNS
--   1 rescheduled, 2 running, 3 had ended, 0 not found
--
--@include lib/now.lua
--@include lib/withdraw.lua
--@include lib/wake.lua
--@include lib/once.lua
local function reschedule()
  local record = load(A.id)
  if not record then return 0 end
  if record.status == PROCESSING then return 2 end
  if record.status ~= WAITING then return 3 end
  local left = entry(A.id, record)
  record.due = tonumber(A.at) or (NOW + tonumber(A.delay))
  place(A.id, record, record.due)
  flush()
  withdraw(left)
  if record.due <= NOW then wake() else wake_before(record.due) end
  return 1
end

return once(reschedule)

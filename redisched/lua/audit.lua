#!lua flags=allow-oom
-- audit: walk a bounded part of the records and mend what no ordinary path would find: a job that
-- counts as processing without a lease comes back as a suspect. The walk goes on where it stopped.
--
-- KEYS
--   jobs        hash    job -> head and body
--   state       hash    job -> record
--   scheduled   zset    entry -> run time, ms
--   ready:0     list    entries
--   ready:1     list    entries
--   ready:2     list    entries
--   ready:3     list    entries
--   processing  zset    job -> lease end, ms
--   unique      hash    unique key -> the job that holds it
--   unclaimed   zset    job -> when its being unclaimed is an alarm, ms
--   ended       zset    job -> kept until, ms
--   dead        zset    job -> kept until, ms
--   versions    string  counter of generations and versions
--   stats       hash    counters
--   wake        list    a hint that work is there
-- ARGV
--   every  least time between two walks of the whole fleet, ms
--   limit  how many records to look at, about
-- RETURNS
--   how many jobs were mended, how many records were looked at
--
--@include lib/now.lua
--@include lib/withdraw.lua
--@include lib/wake_token.lua
local last, cursor = unpack(redis.call('HMGET', K.stats, 'audited_at', 'audit_cursor'))
local since = last and NOW - tonumber(last) or -1
if since >= 0 and since < tonumber(A.every) then return { 0, 0 } end
local page = redis.call('HSCAN', K.state, cursor or '0', 'COUNT', tonumber(A.limit))
local pairs_of, mended = page[2], 0
for i = 1, #pairs_of, 2 do
  local id, record = pairs_of[i], decode(pairs_of[i + 1])
  if record and record.status == PROCESSING and not redis.call('ZSCORE', K.processing, id) then
    record.flags = bit.bor(record.flags, SUSPECT)
    place(id, record, NOW, true)
    mended = mended + 1
  end
end
flush()
redis.call('HSET', K.stats, 'audited_at', string.format('%.0f', NOW), 'audit_cursor', page[1])
if mended > 0 then
  redis.call('HINCRBY', K.stats, 'mended', mended)
  wake()
end
return { mended, #pairs_of / 2 }

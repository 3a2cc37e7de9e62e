#!lua flags=allow-oom
-- extend: keep claimed jobs for this worker. Refused once the lease has lapsed or another claimed it.
--
-- KEYS
--   state       hash  job -> record
--   processing  zset  job -> lease end, ms
--   workers     zset  worker -> last seen, ms
-- ARGV
--   worker  who asks
--   lease   length of the new lease, ms
--   runs    msgpack list of [id, version]
-- RETURNS
--   for each run: 1 extended, 2 extended and asked to stop, 0 lost
--
--@include lib/now.lua
--@include lib/record.lua
--@include lib/batch.lua
local runs, ids, replies = cmsgpack.unpack(A.runs), {}, {}
redis.call('ZADD', K.workers, NOW, A.worker)
if #runs == 0 then return replies end
for i, run in ipairs(runs) do ids[i] = run[1] end
local states = redis.call('HMGET', K.state, unpack(ids))
local ends = redis.call('ZMSCORE', K.processing, unpack(ids))
for i, run in ipairs(runs) do
  local record = states[i] and decode(states[i])
  local mine = record and record.status == PROCESSING and record.version == run[2]
  if mine and ends[i] and tonumber(ends[i]) > NOW then
    write('ZADD', K.processing, NOW + tonumber(A.lease), run[1])
    replies[i] = bit.band(record.flags, STOP) == STOP and 2 or 1
  else
    replies[i] = 0
  end
end
flush()
return replies

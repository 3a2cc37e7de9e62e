#!lua flags=no-writes
-- list_jobs: one page of a place, with what `look` says of each job.
--
-- KEYS
--   jobs        hash  job -> head and body
--   state       hash  job -> record
--   scheduled   zset  entry -> run time, ms
--   ready:0     list  entries
--   ready:1     list  entries
--   ready:2     list  entries
--   ready:3     list  entries
--   processing  zset  job -> lease end, ms
--   ended       zset  job -> kept until, ms
--   dead        zset  job -> kept until, ms
--   unclaimed   zset  job -> when its being unclaimed is an alarm, ms
-- ARGV
--   place   scheduled, ready:N, processing, ended, dead or unclaimed
--   offset  how many to pass over
--   limit   how many at the most
-- RETURNS
--   now, how many in all, [member, score, body, state, when its being unclaimed is an alarm]...
--
--@include lib/now.lua
local key, from = K[A.place], tonumber(A.offset)
local to, rows, total = from + tonumber(A.limit) - 1, {}
if string.sub(A.place, 1, 5) == 'ready' then
  total = redis.call('LLEN', key)
  for _, text in ipairs(redis.call('LRANGE', key, from, to)) do
    rows[#rows + 1], rows[#rows + 2] = text, ''
  end
else
  total = redis.call('ZCARD', key)
  rows = redis.call('ZRANGE', key, from, to, 'WITHSCORES')
end
local reply = { NOW, total }
for i = 1, #rows, 2 do
  local id = string.match(rows[i], '^%d+:(.*)$') or rows[i]
  if A.place ~= 'scheduled' and string.sub(A.place, 1, 5) ~= 'ready' then id = rows[i] end
  local n = #reply
  reply[n + 1], reply[n + 2] = rows[i], rows[i + 1]
  reply[n + 3] = redis.call('HGET', K.jobs, id) or ''
  reply[n + 4] = redis.call('HGET', K.state, id) or ''
  reply[n + 5] = redis.call('ZSCORE', K.unclaimed, id) or ''
end
return reply

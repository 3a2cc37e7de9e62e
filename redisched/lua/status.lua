#!lua flags=no-writes
-- status: the counts of a queue, as of one moment.
--
-- KEYS
--   scheduled    zset    entry -> run time, ms
--   ready:0      list    entries
--   ready:1      list    entries
--   ready:2      list    entries
--   ready:3      list    entries
--   processing   zset    job -> lease end, ms
--   ended        zset    job -> kept until, ms
--   dead         zset    job -> kept until, ms
--   unclaimed    zset    job -> when its being unclaimed is an alarm, ms
--   definitions  hash    schedule -> definition
--   workers      zset    worker -> last seen, ms
--   fleet        hash    worker -> what it says of itself
--   stats        hash    counters
--   paused       string  there while the queue is paused
-- ARGV
--   workers  how many workers to list at the most
-- RETURNS
--   now, scheduled, ready by priority (4), processing, ended, dead, alarms, schedules, paused,
--   next run, [counter, value]..., [worker, last seen, about]...
--
--@include lib/now.lua
local reply = { NOW, redis.call('ZCARD', K.scheduled) }
for priority = 0, 3 do reply[#reply + 1] = redis.call('LLEN', K['ready:' .. priority]) end
for _, key in ipairs({ K.processing, K.ended, K.dead }) do reply[#reply + 1] = redis.call('ZCARD', key) end
reply[#reply + 1] = redis.call('ZCOUNT', K.unclaimed, '-inf', NOW)
reply[#reply + 1] = redis.call('HLEN', K.definitions)
reply[#reply + 1] = redis.call('EXISTS', K.paused)
reply[#reply + 1] = redis.call('ZRANGE', K.scheduled, 0, 0, 'WITHSCORES')[2] or ''
reply[#reply + 1] = redis.call('HGETALL', K.stats)
local workers = redis.call('ZRANGE', K.workers, 0, tonumber(A.workers) - 1, 'REV', 'WITHSCORES')
local rows = {}
for i = 1, #workers, 2 do
  local n = #rows
  rows[n + 1], rows[n + 2] = workers[i], workers[i + 1]
  rows[n + 3] = redis.call('HGET', K.fleet, workers[i]) or ''
end
reply[#reply + 1] = rows
return reply

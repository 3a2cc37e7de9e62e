-- transition: the only place where a job changes state. Callers compare version and status first.
--@include lib/head.lua
--@include lib/batch.lua
-- To waiting: due now is ready (at the head where it only comes back), later is scheduled.
local function place(id, record, run_at, at_head)
  record.status, record.worker = WAITING, ''
  record.generation = redis.call('INCR', K.versions)
  if run_at > NOW then write('ZADD', K.scheduled, run_at, entry(id, record))
  else write(at_head and 'LPUSH' or 'RPUSH', K['ready:' .. record.priority], entry(id, record)) end
  if record.unclaimed > 0 then write('ZADD', K.unclaimed, math.max(run_at, NOW) + record.unclaimed, id) end
  write('HSET', K.state, id, encode(record))
end

-- To an end: frees what the job holds, wherever it ended from.
local function finish(id, record, status, reason, outcome, retention)
  record.status, record.reason, record.outcome, record.ended = status, reason, outcome, NOW
  local unique = record.unique ~= '' and redis.call('HGET', K.unique, record.unique)
  if unique == id then write('HDEL', K.unique, record.unique) end
  if record.unclaimed > 0 then write('ZREM', K.unclaimed, id) end
  if status ~= DEAD and record.retention ~= UNSET then retention = record.retention end
  write('ZADD', status == DEAD and K.dead or K.ended, NOW + retention, id)
  write('HSET', K.state, id, encode(record))
end

-- store_job: write a new job and put it where it waits. The caller has made sure that its id is free.
--@include lib/head.lua
--@include lib/batch.lua
-- job: id, body, at, delay, priority, expires, unclaimed, retention, unique
local function store_job(job)
  local id, body, at, delay, priority, expires, unclaimed, retention, unique = unpack(job, 1, 9)
  local due = at or (NOW + delay)
  local record = fresh(NOW, due, redis.call('INCR', K.versions), priority)
  write('HSET', K.jobs, id, struct.pack(HEAD, 'j1', NOW, due, record.generation, priority) .. body)
  if due > NOW then write('ZADD', K.scheduled, due, entry(id, record))
  else write('RPUSH', K['ready:' .. priority], entry(id, record)) end
  if expires or unclaimed or retention or unique then
    record.expires, record.unclaimed = expires or 0, unclaimed or 0
    record.retention, record.unique = retention or UNSET, unique or ''
    write('HSET', K.state, id, encode(record))
    if unclaimed then write('ZADD', K.unclaimed, math.max(due, NOW) + unclaimed, id) end
    if unique then write('HSET', K.unique, unique, id) end
  end
  return due
end

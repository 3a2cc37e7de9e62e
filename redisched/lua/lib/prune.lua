-- prune: drop ended jobs past their time or over the count. An id enqueued within the idempotency
-- window leaves a tombstone, so that a repeat of its enqueue is still recognised.
--@include lib/head.lua
--@include lib/batch.lua
-- Whether it was an ended job. Of a live one only the member goes: one without a state has never ended.
local function drop(shelf, id, state)
  local status, created, retention = glance(state)
  write('ZREM', shelf, id)
  if status and status < SUCCEEDED or not state and redis.call('HSTRLEN', K.jobs, id) > 1 then return false end
  local until_ms = status and created + LIMITS.window or 0
  if until_ms > NOW then
    write('ZADD', K.tombstones, until_ms, id)
    write('HSET', K.jobs, id, retention == 0 and 'z' or 'x')
  else
    write('HDEL', K.jobs, id)
  end
  write('HDEL', K.state, id)
  return true
end

local function prune_shelf(shelf, kept, limit)
  local over = math.min(limit, redis.call('ZCARD', shelf) - kept)
  local ids = redis.call('ZRANGE', shelf, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, limit)
  if #ids < over then ids = redis.call('ZRANGE', shelf, 0, over - 1) end
  if #ids == 0 then return 0 end
  local states = redis.call('HMGET', K.state, unpack(ids))
  for i, id in ipairs(ids) do drop(shelf, id, states[i]) end
  flush()
  return #ids
end

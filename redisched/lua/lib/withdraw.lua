-- withdraw: take a waiting job out of the place where it waits. Its entry in a ready list stays and
-- is skipped at claim, since its generation is over: removing it would cost a walk of the list.
--@include lib/transition.lua
local function load(id)
  local body = redis.call('HGET', K.jobs, id)
  if not is_body(body) then return nil end
  return record_of(body, redis.call('HGET', K.state, id))
end

local function withdraw(id, record)
  if redis.call('ZREM', K.scheduled, entry(id, record)) == 0 then
    redis.call('HINCRBY', K.stats, 'stale', 1)
  end
end

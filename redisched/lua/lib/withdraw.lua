-- withdraw: take the entry of a job out of the place where it waited, once the job is elsewhere. In a
-- ready list it stays and is skipped at claim: removing it would cost a walk of the list.
--@include lib/transition.lua
local function load(id)
  local body = redis.call('HGET', K.jobs, id)
  if not is_body(body) then return nil end
  return record_of(body, redis.call('HGET', K.state, id))
end

local function withdraw(text)
  if redis.call('ZREM', K.scheduled, text) == 0 then
    redis.call('HINCRBY', K.stats, 'stale', 1)
  end
end

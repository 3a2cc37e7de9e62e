-- due: the schedules that have a slot now, and the next instant at which anything falls due.
local function due_schedules(limit)
  local names = redis.call('ZRANGE', K.schedules, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, limit)
  if #names == 0 then return {} end
  local reply, definitions = {}, redis.call('HMGET', K.definitions, unpack(names))
  for i, name in ipairs(names) do
    reply[2 * i - 1], reply[2 * i] = name, definitions[i] or ''
  end
  return reply
end

-- In whole ms, whatever scores others put there: it becomes the time to live of a key.
local function next_due()
  local soonest = math.huge
  for _, key in ipairs({ K.scheduled, K.schedules, K.processing }) do
    local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first[2] then soonest = math.min(soonest, math.ceil(tonumber(first[2]))) end
  end
  return soonest
end

-- recover: jobs whose lease has lapsed come back as suspects, or die after too many lost workers.
--@include lib/quarantine.lua
--@include lib/come_back.lua
-- Whether a job came of it: a member without a live job is removed only.
local function recover_one(id, body, state)
  local record, fault = nil, nil
  if is_body(body) then record, fault = record_of(body, state) end
  write('ZREM', K.processing, id)
  if fault then quarantine(id, fault, state)
  elseif record and record.status <= PROCESSING then
    come_back(id, record, bit.band(record.flags, SUSPECT) == SUSPECT)
  else return false end
  return true
end

local function recover(limit)
  local lapsed = redis.call('ZRANGE', K.processing, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, limit)
  if #lapsed == 0 then return 0 end
  local bodies, recovered = redis.call('HMGET', K.jobs, unpack(lapsed)), 0
  local states = redis.call('HMGET', K.state, unpack(lapsed))
  for i, id in ipairs(lapsed) do
    if recover_one(id, bodies[i], states[i]) then recovered = recovered + 1 end
  end
  flush()
  redis.call('HINCRBY', K.stats, 'recovered', recovered)
  if recovered < #lapsed then redis.call('HINCRBY', K.stats, 'ghosts', #lapsed - recovered) end
  return #lapsed
end

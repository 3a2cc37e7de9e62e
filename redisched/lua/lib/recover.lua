-- recover: jobs whose lease has lapsed come back as suspects, or die after too many deliveries.
local function recover_one(id, body, state)
  local record, fault = nil, nil
  if is_body(body) then record, fault = record_of(body, state) end
  if not is_body(body) or (record and record.status ~= PROCESSING and record.status ~= WAITING) then
    write('ZREM', K.processing, id)
    return redis.call('HINCRBY', K.stats, 'ghosts', 1)
  elseif not record then
    finish(id, fresh(NOW, NOW, 0, 1), DEAD, fault, state or '', LIMITS.dead_retention)
  elseif record.deliveries >= LIMITS.max_deliveries then
    finish(id, record, DEAD, 'worker lost ' .. record.deliveries .. ' times', record.outcome, LIMITS.dead_retention)
  else
    record.flags = bit.bor(record.flags, SUSPECT)
    place(id, record, NOW, true)
  end
  write('ZREM', K.processing, id)
end

local function recover(limit)
  local lapsed = redis.call('ZRANGE', K.processing, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, limit)
  if #lapsed == 0 then return 0 end
  local bodies = redis.call('HMGET', K.jobs, unpack(lapsed))
  local states = redis.call('HMGET', K.state, unpack(lapsed))
  for i, id in ipairs(lapsed) do recover_one(id, bodies[i], states[i]) end
  flush()
  redis.call('HINCRBY', K.stats, 'recovered', #lapsed)
  return #lapsed
end

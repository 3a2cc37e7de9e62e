-- claim: take ready jobs under a lease, and record it before the reply leaves.
local function accept(id, record, version, lease)
  record.status, record.version, record.worker = PROCESSING, version, A.worker
  record.deliveries, record.claimed = record.deliveries + 1, NOW
  if record.unclaimed > 0 then write('ZREM', K.unclaimed, id) end
  write('ZADD', K.processing, NOW + lease, id)
  local state = encode(record)
  write('HSET', K.state, id, state)
  return state
end

-- The state of the job once claimed; nil where the entry is stale or the job ends unstarted.
local function claim_one(text, id, body, state, version, lease)
  local record, fault = nil, nil
  if is_body(body) then record, fault = record_of(body, state) end
  if fault then
    record = fresh(NOW, NOW, 0, 1)
    return finish(id, record, DEAD, fault, state or '', LIMITS.dead_retention)
  elseif not record or record.status ~= WAITING or entry(id, record) ~= text then
    return redis.call('HINCRBY', K.stats, 'stale', -1) and nil
  elseif record.expires > 0 and record.deliveries == 0 and record.attempts == 0 and NOW > record.due + record.expires then
    return finish(id, record, EXPIRED, 'not started in time', '', LIMITS.retention)
  end
  return accept(id, record, version, lease)
end

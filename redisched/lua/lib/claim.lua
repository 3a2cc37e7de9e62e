-- claim: take ready jobs under a lease, and record it before the reply leaves.
--@include lib/quarantine.lua
--@include lib/splice.lua
local MINE = claimed_by(short(A.worker))

local function accept(id, record, version, lease)
  record.status, record.version, record.worker = PROCESSING, version, A.worker
  record.deliveries, record.claimed = record.deliveries + 1, NOW
  if record.unclaimed > 0 then write('ZREM', K.unclaimed, id) end
  write('ZADD', K.processing, NOW + lease, id)
  local state = encode(record)
  write('HSET', K.state, id, state)
  return state
end

-- The state of the job once claimed; nil where the job ends unstarted, false where the entry is stale.
local function claim_one(text, id, body, state, version, lease)
  local first = not state and is_body(body) and first_claim(text, id, body, version, MINE)
  if first then
    write('ZADD', K.processing, NOW + lease, id)
    write('HSET', K.state, id, first)
    return first
  end
  local record, fault = nil, nil
  if is_body(body) then record, fault = record_of(body, state) end
  if fault then
    return quarantine(id, fault, state)
  elseif not record or record.status ~= WAITING or entry(id, record) ~= text then
    return false
  elseif record.expires > 0 and record.deliveries == 0 and record.attempts == 0 and NOW > record.due + record.expires then
    return finish(id, record, EXPIRED, 'not started in time', '', LIMITS.retention)
  end
  return accept(id, record, version, lease)
end

-- finishes: what a worker says of the jobs it claimed. Only the version that claimed may speak.
--@include lib/come_back.lua
local RETRY, RELEASE, DEFER, LOST = 10, 11, 12, 13
local BEGAN = 'began' -- the reason of a release: the task had begun, and only its first start can be late

-- one: id, version, kind, delay, reason, outcome
local function apply(record, one)
  local id, _, kind, delay, reason, outcome = unpack(one, 1, 6)
  if bit.band(record.flags, STOP) == STOP and kind ~= SUCCEEDED then
    if kind >= RELEASE then return finish(id, record, CANCELLED, 'cancelled', record.outcome, LIMITS.retention) end
    kind = CANCELLED
  end
  if kind < RETRY then
    record.attempts = record.attempts + 1
    local retention = kind == DEAD and LIMITS.dead_retention or LIMITS.retention
    return finish(id, record, kind, reason, outcome, retention)
  elseif kind == LOST then
    return come_back(id, record)
  elseif kind == RETRY then
    record.attempts, record.due = record.attempts + 1, NOW + delay
    record.reason, record.outcome, record.flags = reason, outcome, 0
  elseif kind == RELEASE or kind == DEFER then
    record.deliveries = math.max(0, record.deliveries - 1)
    if reason == BEGAN then record.expires = 0 end
  end
  if kind == DEFER then
    record.reason = reason
    redis.call('HINCRBY', K.stats, 'deferred', 1)
  end
  place(id, record, NOW + delay, kind == RELEASE)
end

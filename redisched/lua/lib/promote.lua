-- promote: due entries go from scheduled to ready; one entry is the same text in both.
local function promote(limit)
  local due = redis.call('ZRANGE', K.scheduled, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, limit)
  if #due == 0 then return 0 end
  for _, text in ipairs(due) do
    local ready = K['ready:' .. string.sub(text, 1, 1)]
    if ready then write('RPUSH', ready, text) else redis.call('HINCRBY', K.stats, 'ghosts', 1) end
  end
  for _, text in ipairs(due) do write('ZREM', K.scheduled, text) end
  flush()
  return #due
end

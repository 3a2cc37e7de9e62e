-- claim_batch: id, body, state of up to `wanted` jobs, best priority first, and how many entries that took.
--@include lib/claim.lua
-- Entries that nobody counted as stale (foreign ones) must not make the count of ready jobs wrong.
local function forget_stale(count)
  if count > 0 and redis.call('HINCRBY', K.stats, 'stale', -count) < 0 then
    redis.call('HSET', K.stats, 'stale', 0)
  end
end

local function claim_some(key, texts, lease, claims)
  local ids = {}
  for i, text in ipairs(texts) do ids[i] = string.match(text, '^%d+:(.*)$') or text end
  local bodies = redis.call('HMGET', K.jobs, unpack(ids))
  local states = redis.call('HMGET', K.state, unpack(ids))
  local base, stale, taken = redis.call('INCRBY', K.versions, #ids) - #ids, 0, {}
  for i, id in ipairs(ids) do
    local state = not taken[id] and claim_one(texts[i], id, bodies[i], states[i], base + i, lease)
    taken[id] = taken[id] or state ~= false
    if state then
      local n = #claims
      claims[n + 1], claims[n + 2], claims[n + 3] = id, bodies[i], state
    elseif state == false then
      stale = stale + 1
    end
  end
  flush()
  redis.call('LTRIM', key, #ids, -1)
  forget_stale(stale)
end

local function claim_batch(wanted, looks, lease)
  local claims, left = {}, looks
  for priority = 0, 3 do
    while #claims < 3 * wanted and left > 0 do
      local key = K['ready:' .. priority]
      local texts = redis.call('LRANGE', key, 0, math.min(wanted - #claims / 3, left) - 1)
      if #texts == 0 then break end
      left = left - #texts
      claim_some(key, texts, lease, claims)
    end
  end
  return claims, looks - left
end

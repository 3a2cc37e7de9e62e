-- claim_batch: fill `claims` with id, body, state of up to `wanted` jobs, best priority first.
--@include lib/claim.lua
local function claim_some(key, texts, lease, claims)
  local ids = {}
  for i, text in ipairs(texts) do ids[i] = string.match(text, '^%d+:(.*)$') or text end
  local bodies = redis.call('HMGET', K.jobs, unpack(ids))
  local states = redis.call('HMGET', K.state, unpack(ids))
  local base = redis.call('INCRBY', K.versions, #ids) - #ids
  for i, id in ipairs(ids) do
    local state = claim_one(texts[i], id, bodies[i], states[i], base + i, lease)
    if state then
      local n = #claims
      claims[n + 1], claims[n + 2], claims[n + 3] = id, bodies[i], state
    end
  end
  flush()
  redis.call('LTRIM', key, #ids, -1)
end

local function claim_batch(wanted, looks, lease)
  local claims = {}
  for priority = 0, 3 do
    while #claims < 3 * wanted and looks > 0 do
      local key = K['ready:' .. priority]
      local texts = redis.call('LRANGE', key, 0, math.min(wanted - #claims / 3, looks) - 1)
      if #texts == 0 then break end
      looks = looks - #texts
      claim_some(key, texts, lease, claims)
    end
  end
  return claims
end

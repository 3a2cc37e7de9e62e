-- claim_batch: id, body, state of up to `wanted` jobs, best priority first, and how many entries that took.
--@include lib/claim.lua
-- Entries that nobody counted as stale (foreign ones) must not make the count of ready jobs wrong.
local function forget_stale(count)
  if count > 0 and redis.call('HINCRBY', K.stats, 'stale', -count) < 0 then
    redis.call('HSET', K.stats, 'stale', 0)
  end
end

-- How many entries were used up: those behind the last job wanted stay.
local function claim_some(key, texts, enough, lease, claims)
  local ids, used, stale, taken = {}, 0, 0, {}
  for i, text in ipairs(texts) do ids[i] = string.match(text, '^%d+:(.*)$') or text end
  local bodies = redis.call('HMGET', K.jobs, unpack(ids))
  local states = redis.call('HMGET', K.state, unpack(ids))
  local base = redis.call('INCRBY', K.versions, #ids) - #ids
  while used < #ids and #claims < enough do
    used = used + 1
    local id, n = ids[used], #claims
    local state = not taken[id] and claim_one(texts[used], id, bodies[used], states[used], base + used, lease)
    taken[id] = taken[id] or state ~= false
    if state then claims[n + 1], claims[n + 2], claims[n + 3] = id, bodies[used], state end
    if state == false then stale = stale + 1 end
  end
  flush()
  redis.call('LTRIM', key, used, -1)
  forget_stale(stale)
  return used
end

-- As many entries at a time as are wanted; behind stale ones twice as many each time, up to a hundred.
local function claim_batch(wanted, looks, lease)
  local claims, left = {}, looks
  for priority = 0, 3 do
    local key, size = K['ready:' .. priority], 1
    while #claims < 3 * wanted and left > 0 do
      size = math.max(wanted - #claims / 3, math.min(2 * size, 100))
      local texts = redis.call('LRANGE', key, 0, math.min(size, left) - 1)
      if #texts == 0 then break end
      left = left - claim_some(key, texts, 3 * wanted, lease, claims)
    end
  end
  return claims, looks - left
end

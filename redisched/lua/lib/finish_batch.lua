-- finish_batch: apply a worker's finishes; a stale word is refused, counted and told.
--@include lib/finishes.lua
--@include lib/splice.lua
local function finish_batch(list)
  local ids, refused, heard = {}, {}, {}
  if #list == 0 then return refused end
  for i, one in ipairs(list) do ids[i] = one[1] end
  for i, state in ipairs(redis.call('HMGET', K.state, unpack(ids))) do
    local one = list[i]
    local plain = one[3] == SUCCEEDED and #one[5] < 256 and state and not heard[ids[i]]
      and plain_success(state, one[2], one[5], one[6])
    local record = not plain and state and decode(state)
    if plain then
      heard[ids[i]] = true
      write('HSET', K.state, ids[i], plain)
      write('ZADD', K.ended, NOW + LIMITS.retention, ids[i])
    elseif record and record.status == PROCESSING and record.version == one[2] and not heard[ids[i]] then
      heard[ids[i]] = true
      apply(record, one)
    else
      refused[#refused + 1] = ids[i]
    end
    if heard[ids[i]] then write('ZREM', K.processing, ids[i]) end
  end
  flush()
  if #refused > 0 then redis.call('HINCRBY', K.stats, 'refused', #refused) end
  return refused
end

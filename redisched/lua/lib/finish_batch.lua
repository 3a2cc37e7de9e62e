-- finish_batch: apply a worker's finishes; a stale word is refused, counted and told.
--@include lib/finishes.lua
local function finish_batch(list)
  local ids, refused, heard = {}, {}, {}
  if #list == 0 then return refused end
  for i, one in ipairs(list) do ids[i] = one[1] end
  for i, state in ipairs(redis.call('HMGET', K.state, unpack(ids))) do
    local record = state and decode(state)
    if record and record.status == PROCESSING and record.version == list[i][2] and not heard[ids[i]] then
      heard[ids[i]] = true
      if list[i][3] ~= SUCCEEDED and bit.band(record.flags, STOP) == STOP then list[i][3] = CANCELLED end
      apply(record, list[i])
      write('ZREM', K.processing, ids[i])
    else
      refused[#refused + 1] = ids[i]
    end
  end
  flush()
  if #refused > 0 then redis.call('HINCRBY', K.stats, 'refused', #refused) end
  return refused
end

-- repeated: what a worker's last turn did, kept until its next, for a reply that was lost.
--@include lib/claim_batch.lua
local function remember(claims, refused)
  local ids = {}
  for i = 1, #claims, 3 do ids[#ids + 1] = claims[i] end
  redis.call('HSET', K.turns, A.worker, cmsgpack.pack({ A.turn, ids, refused }))
  redis.call('ZADD', K.workers, NOW, A.worker)
end

-- The same claims again, those that are still this worker's; nil where the turn is new.
local function repeated()
  local last = redis.call('HGET', K.turns, A.worker)
  if not last then return nil end
  local turn, ids, refused = unpack(cmsgpack.unpack(last))
  if turn ~= A.turn then return nil end
  local claims = {}
  for _, id in ipairs(ids) do
    local body, state = redis.call('HGET', K.jobs, id), redis.call('HGET', K.state, id)
    local record = state and decode(state)
    if body and record and record.status == PROCESSING and record.worker == A.worker then
      claims[#claims + 1], claims[#claims + 2], claims[#claims + 3] = id, body, state
    end
  end
  return { NOW, 1, 0, refused, claims, {} }
end

-- repeated: what a worker's last turn did, kept until its next, for a reply that was lost. A turn
-- from before the last one arrives late, over a connection that its worker gave up: nobody listens.
--@include lib/claim_batch.lua
local function remember(claims, refused)
  local ids = {}
  for i = 1, #claims, 3 do ids[#ids + 1] = claims[i] end
  redis.call('HSET', K.turns, A.worker, cmsgpack.pack({ A.turn, ids, refused }))
  redis.call('ZADD', K.workers, NOW, A.worker)
end

-- Turns are counted; last words come behind all of them.
local function is_late(last)
  local this = tonumber(A.turn)
  local that = string.sub(last, 1, 4) == 'last' and math.huge or tonumber(last)
  return this and that and this < that
end

-- The same claims again, those that are still this worker's, with a whole lease; nil where the turn is new.
local function repeated(lease)
  local readable, last = pcall(cmsgpack.unpack, redis.call('HGET', K.turns, A.worker) or '')
  if not readable or type(last) ~= 'table' or type(last[1]) ~= 'string' then return nil end
  if is_late(last[1]) then return { NOW, 0, tonumber(A.longest), {}, {}, {}, {} } end
  if last[1] ~= A.turn then return nil end
  local claims = {}
  for _, id in ipairs(last[2]) do
    local body, state = redis.call('HGET', K.jobs, id), redis.call('HGET', K.state, id)
    local record = state and decode(state)
    if body and record and record.status == PROCESSING and record.worker == A.worker then
      write('ZADD', K.processing, NOW + lease, id)
      claims[#claims + 1], claims[#claims + 2], claims[#claims + 3] = id, body, state
    end
  end
  flush()
  return { NOW, 1, 0, last[3], claims, {}, {} }
end

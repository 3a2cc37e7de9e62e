-- once: do it, and keep the answer for longer than any caller goes on asking. A repeat of the same
-- call, whose reply was lost, gets that answer and does nothing.
local ANSWER_KEPT_MS = 60000
local function once(act)
  local kept = redis.call('GET', K.op)
  if kept then return cmsgpack.unpack(kept) end
  local reply = act()
  redis.call('SET', K.op, cmsgpack.pack(reply), 'PX', ANSWER_KEPT_MS)
  return reply
end

#!lua flags=allow-oom
-- discard: drop ended jobs now, whatever their retention says. Live jobs are passed over.
--
-- KEYS
--   jobs        hash    job -> head and body
--   state       hash    job -> record
--   ended       zset    job -> kept until, ms
--   dead        zset    job -> kept until, ms
--   tombstones  zset    pruned job -> recognised until, ms
--   op          string  this call's answer, for a while
-- ARGV
--   ids     msgpack list of jobs
--   limits  msgpack map: window
-- RETURNS
--   how many were dropped
--
--@include lib/now.lua
--@include lib/limits.lua
--@include lib/prune.lua
--@include lib/once.lua
local function discard()
  local dropped = 0
  for _, id in ipairs(cmsgpack.unpack(A.ids)) do
    local state = redis.call('HGET', K.state, id)
    for _, shelf in ipairs({ K.ended, K.dead }) do
      if redis.call('ZSCORE', shelf, id) and drop(shelf, id, state) then dropped = dropped + 1 end
    end
  end
  flush()
  return dropped
end

return once(discard)

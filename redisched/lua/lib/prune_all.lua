-- prune_all: ended and dead jobs, then tombstones, within one limit.
--@include lib/prune.lua
local function prune_tombstones(limit)
  local ids = redis.call('ZRANGE', K.tombstones, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, limit)
  if #ids == 0 then return 0 end
  for _, id in ipairs(ids) do
    write('HDEL', K.jobs, id)
    write('ZREM', K.tombstones, id)
  end
  flush()
  return #ids
end

local function prune_all(limit)
  local done = prune_shelf(K.ended, LIMITS.retained_jobs, limit)
  if done < limit then done = done + prune_shelf(K.dead, LIMITS.dead_jobs, limit - done) end
  if done < limit then done = done + prune_tombstones(limit - done) end
  return done
end

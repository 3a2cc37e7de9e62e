-- fire_slot: one slot. slot: name, revision, slot ms, wall ('' for epoch slots), next ms or false,
-- job as for enqueue or false (the slot is passed over), name of the counter for a slot passed over.
--@include lib/definition.lua
--@include lib/store_job.lua
local function is_current(definition, revision)
  return definition and definition[REVISION] == revision and definition[PAUSED] == 0
end

local function advance(name, next_slot)
  if next_slot then redis.call('ZADD', K.schedules, next_slot, name) else redis.call('ZREM', K.schedules, name) end
  return next_slot
end

-- The job is stored before the slot is taken: should the script fail between, the slot is tried again.
local function become_job(key, job, keep)
  if redis.call('EXISTS', key) == 1 or redis.call('HEXISTS', K.jobs, job[1]) == 1 then return 0 end
  store_job(job)
  flush()
  redis.call('SET', key, job[1], 'NX', 'PX', keep)
  return 1
end

local function fire_slot(slot, key, keep)
  local name, revision, at, wall, next_slot, job, counter = unpack(slot, 1, 7)
  local definition, reply = definition_of(name), 2
  if not is_current(definition, revision) then return 0 end
  if at <= definition[LAST_SLOT] or (wall ~= '' and wall <= definition[LAST_WALL]) then
    local score = tonumber(redis.call('ZSCORE', K.schedules, name) or '')
    local stuck = score and score <= NOW and (not next_slot or next_slot > score)
    return 0, stuck and advance(name, next_slot) or nil
  end
  if not job then
    redis.call('HINCRBY', K.stats, counter, 1)
  else
    reply = become_job(key, job, keep)
  end
  definition[LAST_SLOT], definition[FIRED] = at, definition[FIRED] + (reply == 1 and 1 or 0)
  if wall ~= '' then definition[LAST_WALL] = wall end
  put_definition(name, definition)
  return reply, advance(name, next_slot)
end

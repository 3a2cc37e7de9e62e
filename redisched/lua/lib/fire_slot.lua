-- fire_slot: one slot. slot: name, revision, slot ms, wall ('' for epoch slots), next ms or false,
-- job as for enqueue or false (the slot is passed over), name of the counter for a slot passed over.
--@include lib/definition.lua
--@include lib/store_job.lua
local function is_stale(definition, revision, at, wall)
  return not definition or definition[REVISION] ~= revision or definition[PAUSED] ~= 0
    or at <= definition[LAST_SLOT] or (wall ~= '' and wall <= definition[LAST_WALL])
end

local function fire_slot(slot, key, keep)
  local name, revision, at, wall, next_slot, job, counter = unpack(slot, 1, 7)
  local definition, reply = definition_of(name), 2
  if is_stale(definition, revision, at, wall) then return 0 end
  if not job then
    redis.call('HINCRBY', K.stats, counter, 1)
  elseif redis.call('SET', key, job[1], 'NX', 'PX', keep) then
    store_job(job)
    reply = 1
  else
    reply = 0
  end
  definition[LAST_SLOT], definition[FIRED] = at, definition[FIRED] + (reply == 1 and 1 or 0)
  if wall ~= '' then definition[LAST_WALL] = wall end
  put_definition(name, definition)
  if next_slot then redis.call('ZADD', K.schedules, next_slot, name) else redis.call('ZREM', K.schedules, name) end
  return reply, next_slot
end

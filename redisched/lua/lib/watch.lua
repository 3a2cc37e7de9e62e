-- watch: how long this worker may wait. One waiter holds the timer and looks at the next due
-- instant; the others wait the longest wait. Who does not wait hands the timer on.
--@include lib/due.lua
--@include lib/wake.lua
local function watch(longest)
  local instant = math.max(NOW, math.min(next_due(), NOW + longest))
  local at, holder = watched()
  if at and holder ~= A.worker and at <= instant then return longest end
  redis.call('SET', K.timer, string.format('%.0f %s', instant, A.worker), 'PX', instant - NOW + LIMITS.overdue)
  return instant - NOW
end

local function hand_on()
  local at, holder = watched()
  if holder == A.worker then
    redis.call('DEL', K.timer)
    at = nil
  end
  if next_due() < (at or math.huge) then wake() end
end

local function has_ready()
  if redis.call('EXISTS', K.paused) == 1 then return false end
  for priority = 0, 3 do
    if redis.call('LLEN', K['ready:' .. priority]) > 0 then return true end
  end
  return false
end

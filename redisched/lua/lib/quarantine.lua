-- quarantine: a job that cannot be read ends as dead, with the reason and its raw state for people to see.
--@include lib/transition.lua
local quarantined = {}
local function quarantine(id, fault, state)
  write('ZREM', K.unclaimed, id)
  redis.call('HINCRBY', K.stats, 'quarantined', 1)
  quarantined[#quarantined + 1], quarantined[#quarantined + 2] = id, fault
  finish(id, fresh(NOW, NOW, 0, 1), DEAD, fault, state or '', LIMITS.dead_retention)
end

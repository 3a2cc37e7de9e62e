-- come_back: a job whose worker or child was lost runs again as a suspect, or dies after too many.
-- A child lost under it is its doing. So may be the loss of the worker that it ran inside; of the
-- worker of its child hardly, and where workers die often that happens to healthy jobs again and again.
--@include lib/transition.lua
local BENEFIT_OF_DOUBT = 5

local function come_back(id, record, in_doubt)
  local lost, limit = record.deliveries - record.attempts, LIMITS.max_deliveries
  if in_doubt then limit = limit * BENEFIT_OF_DOUBT end
  if bit.band(record.flags, STOP) == STOP then
    finish(id, record, CANCELLED, 'cancelled', record.outcome, LIMITS.retention)
  elseif lost >= limit then
    finish(id, record, DEAD, 'worker lost ' .. lost .. ' times', record.outcome, LIMITS.dead_retention)
  else
    record.flags = bit.bor(record.flags, SUSPECT)
    place(id, record, NOW, true)
  end
end

-- come_back: a job whose worker or child was lost runs again as a suspect, or dies after too many.
--@include lib/transition.lua
local function come_back(id, record)
  local lost = record.deliveries - record.attempts
  if bit.band(record.flags, STOP) == STOP then
    finish(id, record, CANCELLED, 'cancelled', record.outcome, LIMITS.retention)
  elseif lost >= LIMITS.max_deliveries then
    finish(id, record, DEAD, 'worker lost ' .. lost .. ' times', record.outcome, LIMITS.dead_retention)
  else
    record.flags = bit.bor(record.flags, SUSPECT)
    place(id, record, NOW, true)
  end
end

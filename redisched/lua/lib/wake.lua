-- wake: hints for what falls due later.
--@include lib/wake_token.lua
-- The instant that a waiter watches, and who it is; nil while nobody does.
local function watched()
  local instant, worker = string.match(redis.call('GET', K.timer) or '', '^(%d+) (.*)$')
  return tonumber(instant), worker
end

-- Something falls due at `instant`: wake a waiter unless one looks by then anyway.
local function wake_before(instant)
  local at = watched()
  if not at or instant < at then wake() end
end

#!lua flags=allow-oom
-- pause: stop or go on handing out the jobs of this queue. Running ones are not touched.
--
-- KEYS
--   paused  string  there while the queue is paused
--   wake    list    a hint that work is there
--   op      string  this call's answer, for a while
-- ARGV
--   pause  1 pause, 0 resume
-- RETURNS
--   1 changed, 0 it was so already
--
--@include lib/wake_token.lua
--@include lib/once.lua
local function pause()
  local was = redis.call('EXISTS', K.paused)
  if A.pause == '1' then
    redis.call('SET', K.paused, '1')
    return 1 - was
  end
  redis.call('DEL', K.paused)
  wake()
  return was
end

return once(pause)

-- wake_token: a hint for one waiting worker. At most one token; correctness never needs it.
local function wake()
  if redis.call('LLEN', K.wake) == 0 then redis.call('RPUSH', K.wake, '1') end
end

-- now: the server's clock in whole ms, read once. Scripts never trust a client's time.
local clock = redis.call('TIME')
local NOW = clock[1] * 1000 + math.floor(clock[2] / 1000)

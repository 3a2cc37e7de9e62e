-- batch: collect writes and send them as few variadic commands, additions before removals:
-- a script that fails on its way may leave a job in two places, never in none.
local pending = { HSET = {}, ZADD = {}, RPUSH = {}, LPUSH = {}, ZREM = {}, HDEL = {} }

local function write(command, key, first, second)
  local list = pending[command][key]
  if not list then
    list = {}
    pending[command][key] = list
  end
  list[#list + 1] = first
  if second then list[#list + 1] = second end
end

local function flush()
  for _, command in ipairs({ 'HSET', 'ZADD', 'RPUSH', 'LPUSH', 'ZREM', 'HDEL' }) do
    for key, list in pairs(pending[command]) do redis.call(command, key, unpack(list)) end
    pending[command] = {}
  end
end

-- batch: collect writes and send them as few variadic commands, additions before removals:
-- a script that fails on its way may leave a job in two places, never in none. What goes to the head
-- of a list keeps its order there.
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
    for key, list in pairs(pending[command]) do
      if command == 'LPUSH' then
        for i = 1, math.floor(#list / 2) do list[i], list[#list + 1 - i] = list[#list + 1 - i], list[i] end
      end
      redis.call(command, key, unpack(list))
    end
    pending[command] = {}
  end
end

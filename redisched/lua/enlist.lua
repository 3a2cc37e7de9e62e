#!lua flags=allow-oom
-- enlist: a worker says who it is, or leaves; workers not seen for long are forgotten.
--
-- KEYS
--   workers  zset    worker -> last seen, ms
--   fleet    hash    worker -> what it says of itself
--   turns    hash    worker -> its last turn
--   timer    string  which waiter watches which instant
--   wake     list    a hint that work is there
-- ARGV
--   worker   who it is
--   about    msgpack map of what it says of itself; empty: it leaves
--   forget   workers not seen for so long are forgotten, ms
--   limit    how many to forget at the most
-- RETURNS
--   how many workers were forgotten
--
--@include lib/now.lua
--@include lib/batch.lua
--@include lib/wake.lua
local function leave()
  local _, holder = watched()
  if holder == A.worker then redis.call('DEL', K.timer) end
  wake()
end

if A.about ~= '' then
  redis.call('ZADD', K.workers, NOW, A.worker)
  redis.call('HSET', K.fleet, A.worker, A.about)
end
local gone = redis.call('ZRANGE', K.workers, '-inf', NOW - tonumber(A.forget), 'BYSCORE', 'LIMIT', 0, tonumber(A.limit))
local forgotten = #gone
if A.about == '' then
  gone[#gone + 1] = A.worker
  leave()
end
for _, worker in ipairs(gone) do
  write('ZREM', K.workers, worker)
  write('HDEL', K.fleet, worker)
  write('HDEL', K.turns, worker)
end
flush()
return forgotten

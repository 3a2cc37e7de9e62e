#!lua flags=allow-oom
-- sweep: drop the members of a page of a place that stand for no job there. In a ready list they are
-- counted only: claiming passes over them, and to take one out of its middle would cost a walk of it.
--
-- KEYS
--   jobs        hash  job -> head and body
--   state       hash  job -> record
--   scheduled   zset  entry -> run time, ms
--   ready:0     list  entries
--   ready:1     list  entries
--   ready:2     list  entries
--   ready:3     list  entries
--   processing  zset  job -> lease end, ms
--   ended       zset  job -> kept until, ms
--   dead        zset  job -> kept until, ms
--   unclaimed   zset  job -> when its being unclaimed is an alarm, ms
-- ARGV
--   place   scheduled, ready:N, processing, ended, dead or unclaimed
--   offset  how many to pass over
--   limit   how many to look at, at the most
-- RETURNS
--   how many were looked at, how many of them stand for no job
--
--@include lib/now.lua
--@include lib/head.lua
--@include lib/batch.lua
local key, from, ghosts = K[A.place], tonumber(A.offset), 0
local is_list = string.sub(A.place, 1, 5) == 'ready'
local holds_entries = is_list or A.place == 'scheduled'

-- A record that nobody can read counts: the next claim puts the job aside, with the reason.
local function is_current(text)
  local id = string.match(text, '^%d+:(.*)$')
  local body = id and redis.call('HGET', K.jobs, id)
  if not is_body(body) then return false end
  local record = record_of(body, redis.call('HGET', K.state, id))
  return not record or record.status == WAITING and entry(id, record) == text
end

-- Bodies are measured, not read: they may be large. Tombstones are one byte long.
local function is_kept(id) return redis.call('HSTRLEN', K.jobs, id) > 1 end

local members = redis.call(is_list and 'LRANGE' or 'ZRANGE', key, from, from + tonumber(A.limit) - 1)
for _, member in ipairs(members) do
  if not (holds_entries and is_current or is_kept)(member) then
    ghosts = ghosts + 1
    if not is_list then write('ZREM', key, member) end
  end
end
flush()
return { #members, ghosts }

#!lua flags=no-writes
-- list_schedules: some schedules by name, or a page of all.
--
-- KEYS
--   schedules    zset  schedule -> next slot, ms
--   definitions  hash  schedule -> definition
-- ARGV
--   name    the schedule; empty: a page of all
--   cursor  where the page starts; 0: at the beginning
--   limit   how many, about
-- RETURNS
--   now, cursor of the next page (0: it was the last), [name, definition, next slot]...
--
--@include lib/now.lua
local page = { '0', { A.name, redis.call('HGET', K.definitions, A.name) or '' } }
if A.name == '' then page = redis.call('HSCAN', K.definitions, A.cursor, 'COUNT', tonumber(A.limit)) end
local reply = { NOW, page[1] }
for i = 1, #page[2], 2 do
  local n = #reply
  reply[n + 1], reply[n + 2] = page[2][i], page[2][i + 1]
  reply[n + 3] = redis.call('ZSCORE', K.schedules, page[2][i]) or ''
end
return reply

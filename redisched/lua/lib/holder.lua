-- holder: who holds a unique key. A holder that has ended or is gone or illegible holds nothing: no
-- ordinary path leaves one behind, and none would ever free the key.
--@include lib/record.lua
local function holder_of(unique)
  local id = redis.call('HGET', K.unique, unique)
  if not id then return nil end
  local record = decode(redis.call('HGET', K.state, id) or '')
  local live = record and record.status <= PROCESSING and redis.call('HSTRLEN', K.jobs, id) > 1
  return live and record.unique == unique and id or nil
end

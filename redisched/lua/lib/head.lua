-- head: a job's record, from its state or, where it has none, from the head of its body.
--@include lib/record.lua
local function fresh(created, due, generation, priority)
  return { status = WAITING, version = 0, generation = generation, priority = priority, attempts = 0,
    deliveries = 0, created = created, due = due, claimed = 0, ended = 0, flags = 0, expires = 0,
    unclaimed = 0, retention = UNSET, worker = '', reason = '', unique = '', outcome = '' }
end

-- Its text where it waits: one of an older generation is stale.
local function entry(id, record) return record.priority .. record.generation .. ':' .. id end

-- Is there a body? Tombstones ('x' pruned, 'z' never kept) only say that the id was used.
local function is_body(body) return body and #body > 1 end

-- The record, or nil and why there is none: the body or the state is corrupt.
local function record_of(body, state)
  if state then
    local record = decode(state)
    if record then return record end
    return nil, 'the state record is corrupt'
  end
  local ok, magic, created, due, generation, priority = pcall(struct.unpack, HEAD, body)
  if not ok or magic ~= 'j1' or priority > 3 then return nil, 'the job body is corrupt' end
  return fresh(created, due, generation, priority)
end

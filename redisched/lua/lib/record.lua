-- record: the two packed values of a job. `jobs` holds a fixed head and the opaque body; `state`
-- holds what changes. A job that was never claimed has no state: its record is read off the head.
local HEAD = '>c2I6I6I6B' -- magic, created, due, generation, priority
local RECORD = '>BBI6I6BI4I4I6I6I6I6BI6I6I6Bc0Bc0Hc0I4c0'
local UNSET = 281474976710655 -- 2^48 - 1: the default, decided when it is needed
local WAITING, PROCESSING, SUCCEEDED, DEAD, CANCELLED, EXPIRED = 1, 2, 3, 4, 5, 6
local SUSPECT, STOP = 1, 2

-- A text longer than its length field can say would shift all that follows it.
local function short(text) return string.sub(text, 1, 255) end

local function encode(r)
  local worker, reason = short(r.worker), short(r.reason)
  return struct.pack(RECORD, 1, r.status, r.version, r.generation, r.priority, r.attempts, r.deliveries,
    r.created, r.due, r.claimed, r.ended, r.flags, r.expires, r.unclaimed, r.retention,
    #worker, worker, #reason, reason, #r.unique, r.unique, #r.outcome, r.outcome)
end

-- Status, creation and retention only, for a third of the price; nil where there is no record.
local function glance(raw)
  if not raw or #raw < 74 or string.byte(raw) ~= 1 then return nil end
  return string.byte(raw, 2), struct.unpack('>I6', raw, 24), struct.unpack('>I6', raw, 61)
end

local function decode(raw)
  local ok, v, s, version, g, p, a, d, created, due, claimed, ended, flags, expires, unclaimed, retention,
    worker, reason, unique, outcome = pcall(struct.unpack, RECORD, raw)
  if not ok or v ~= 1 or s < WAITING or s > EXPIRED or p > 3 then return nil end
  return { status = s, version = version, generation = g, priority = p, attempts = a, deliveries = d,
    created = created, due = due, claimed = claimed, ended = ended, flags = flags, expires = expires,
    unclaimed = unclaimed, retention = retention, worker = worker, reason = reason, unique = unique,
    outcome = outcome }
end

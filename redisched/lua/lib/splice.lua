-- splice: the two commonest transitions, written as bytes: a first claim and a plain success. Taking
-- a record apart and packing it again costs three times as much. nil: the job is not so plain.
--@include lib/head.lua
local NOW6 = struct.pack('>I6', NOW)
local ZEROS, PLAIN = string.rep('\0', 19), string.rep('\0', 6) .. string.rep('\255', 6)

-- Ended, flags, expires, unclaimed: 0; retention unset; this worker; no reason, unique key, outcome.
local function claimed_by(worker)
  return ZEROS .. string.rep('\255', 6) .. string.char(#worker) .. worker .. string.rep('\0', 7)
end

local function first_claim(text, id, body, version, tail)
  local priority = string.byte(body, 21)
  if string.sub(body, 1, 2) ~= 'j1' or not priority or priority > 3 then return nil end
  if priority .. struct.unpack('>I6', body, 15) .. ':' .. id ~= text then return nil end
  return '\1\2' .. struct.pack('>I6', version) .. string.sub(body, 15, 21) .. '\0\0\0\0\0\0\0\1'
    .. string.sub(body, 3, 14) .. NOW6 .. tail
end

-- Nothing but its status, attempts, end, reason and outcome changes, and it holds nothing.
local function plain_success(raw, version, reason, outcome)
  if string.sub(raw, 1, 2) ~= '\1\2' or string.sub(raw, 55, 66) ~= PLAIN or #raw < 74 then return nil end
  local behind = 68 + string.byte(raw, 67)
  local unique = behind + 1 + (string.byte(raw, behind) or 0)
  if string.sub(raw, unique, unique + 1) ~= '\0\0' or struct.unpack('>I6', raw, 3) ~= version then return nil end
  local attempts = struct.unpack('>I4', raw, 16) + 1
  return '\1\3' .. string.sub(raw, 3, 15) .. struct.pack('>I4', attempts) .. string.sub(raw, 20, 41) .. NOW6
    .. string.sub(raw, 48, behind - 1) .. struct.pack('>Bc0Hc0I4c0', #reason, reason, 0, '', #outcome, outcome)
end

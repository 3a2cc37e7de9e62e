-- definition: a schedule as stored: incarnation, revision, paused, last slot, last wall, fired, spec.
local INCARNATION, REVISION, PAUSED, LAST_SLOT, LAST_WALL, FIRED, SPEC = 1, 2, 3, 4, 5, 6, 7

local function definition_of(name)
  local raw = redis.call('HGET', K.definitions, name)
  local ok, definition = pcall(cmsgpack.unpack, raw or '')
  if raw and ok and type(definition) == 'table' and definition[SPEC] then return definition end
  return nil
end

local function put_definition(name, definition)
  redis.call('HSET', K.definitions, name, cmsgpack.pack(definition))
end

-- definition: a schedule as stored: incarnation, revision, paused, last slot, last wall, fired, spec.
local INCARNATION, REVISION, PAUSED, LAST_SLOT, LAST_WALL, FIRED, SPEC = 1, 2, 3, 4, 5, 6, 7

local KINDS = { 'number', 'number', 'number', 'number', 'string', 'number', 'string' }

-- nil where there is none, and where what is there is none.
local function definition_of(name)
  local ok, definition = pcall(cmsgpack.unpack, redis.call('HGET', K.definitions, name) or '')
  if not ok or type(definition) ~= 'table' then return nil end
  for i, kind in ipairs(KINDS) do
    if type(definition[i]) ~= kind then return nil end
  end
  return definition
end

local function put_definition(name, definition)
  redis.call('HSET', K.definitions, name, cmsgpack.pack(definition))
end

#!lua flags=no-writes
-- look: where a job stands.
--
-- KEYS
--   jobs        hash  job -> head and body
--   state       hash  job -> record
--   scheduled   zset  entry -> run time, ms
--   processing  zset  job -> lease end, ms
--   unclaimed   zset  job -> when its being unclaimed is an alarm, ms
-- ARGV
--   id  the job
-- RETURNS
--   now, body, state, then empty where there is none: run time where scheduled, lease end where
--   processing, when its being unclaimed is an alarm
--
--@include lib/now.lua
--@include lib/head.lua
local body, state = redis.call('HGET', K.jobs, A.id), redis.call('HGET', K.state, A.id)
local record = is_body(body) and record_of(body, state)
local run_at = record and redis.call('ZSCORE', K.scheduled, entry(A.id, record))
local lease_end = redis.call('ZSCORE', K.processing, A.id)
local alarm_at = redis.call('ZSCORE', K.unclaimed, A.id)
return { NOW, body or '', state or '', run_at or '', lease_end or '', alarm_at or '' }

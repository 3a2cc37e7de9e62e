#!lua flags=no-writes
-- look: where a job stands.
--
-- KEYS
--   jobs        hash  job -> head and body
--   state       hash  job -> record
--   scheduled   zset  entry -> run time, ms
--   processing  zset  job -> lease end, ms
-- ARGV
--   id  the job
-- RETURNS
--   now, body, state, run time where scheduled, lease end where processing; empty where there is none
--
--@include lib/now.lua
--@include lib/head.lua
local body, state = redis.call('HGET', K.jobs, A.id), redis.call('HGET', K.state, A.id)
local record = is_body(body) and record_of(body, state)
local run_at = record and redis.call('ZSCORE', K.scheduled, entry(A.id, record))
local lease_end = redis.call('ZSCORE', K.processing, A.id)
return { NOW, body or '', state or '', run_at or '', lease_end or '' }

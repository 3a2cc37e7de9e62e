#!lua flags=allow-oom
-- turn: one round trip of a worker: finish a batch, recover what has lapsed, promote what is due,
-- claim up to n, prune, report due schedules, and say how long to wait. A repeated turn (its reply
-- was lost) gets the same claims again; one from before the last gets nothing and does nothing.
--
-- KEYS
--   jobs         hash    job -> head and body
--   state        hash    job -> record
--   scheduled    zset    entry -> run time, ms
--   ready:0      list    entries, first in first out
--   ready:1      list    entries
--   ready:2      list    entries
--   ready:3      list    entries
--   processing   zset    job -> lease end, ms
--   unique       hash    unique key -> the job that holds it
--   unclaimed    zset    job -> when its being unclaimed is an alarm, ms
--   ended        zset    job -> kept until, ms
--   dead         zset    job -> kept until, ms
--   tombstones   zset    pruned job -> recognised until, ms
--   schedules    zset    schedule -> next slot, ms
--   definitions  hash    schedule -> definition
--   versions     string  counter of generations and versions
--   turns        hash    worker -> its last turn and what it claimed
--   workers      zset    worker -> last seen, ms
--   stats        hash    counters
--   paused       string  there while the queue is paused
--   wake         list    a hint that work is there
--   timer        string  which waiter watches which instant
-- ARGV
--   worker    who asks
--   turn      id of this turn: a number that grows, or `last...`; the same when it is repeated
--   wanted    how many jobs to claim
--   lease     length of their lease, ms
--   longest   longest wait, ms; 0: the caller will not wait
--   finishes  msgpack list of [id, version, kind, delay, reason, outcome]
--   limits    msgpack map: budget, retention, dead_retention, retained_jobs, dead_jobs, window, max_deliveries, overdue, schedules
-- RETURNS
--   now, more due (0 or 1), wait, refused ids, [id, body, state]..., [schedule, definition]..., [corrupt id, fault]...
--
--@include lib/now.lua
--@include lib/limits.lua
--@include lib/finish_batch.lua
--@include lib/recover.lua
--@include lib/promote.lua
--@include lib/claim_batch.lua
--@include lib/prune_all.lua
--@include lib/watch.lua
--@include lib/repeated.lua
local again = repeated(tonumber(A.lease))
if again then return again end
local finishes, wanted = cmsgpack.unpack(A.finishes), tonumber(A.wanted)
local refused = finish_batch(finishes)
local budget = math.max(100, LIMITS.budget - #finishes - wanted)
local recovered = recover(math.min(100, budget))
local promoted = promote(math.max(wanted, math.floor((budget - recovered) / 2)))
budget = budget - recovered - promoted
local claims, looked = {}, 0
if wanted > 0 and redis.call('EXISTS', K.paused) == 0 then
  claims, looked = claim_batch(wanted, wanted + math.max(0, budget), tonumber(A.lease))
end
remember(claims, refused)
prune_all(math.max(#finishes, math.min(wanted + budget - looked, 2 * #finishes + 50)))
local names = wanted > 0 and due_schedules(LIMITS.schedules) or {}
local more, full, longest, wait = has_ready(), #claims >= 3 * wanted, tonumber(A.longest), 0
if more and full then wake() end
if full or more or longest == 0 then hand_on() else wait = watch(longest) end
return { NOW, more and 1 or 0, wait, refused, claims, names, quarantined }

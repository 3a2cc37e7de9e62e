"""put_schedule, fire, remove_schedule, postpone, list_schedules: a slot becomes one job, whoever fires it."""

from __future__ import annotations

from datetime import timedelta

import msgpack
import pytest

from redisched.core.errors import PayloadError, ScriptError
from redisched.core.states import JobState
from redisched.store.operations.jobs import NewJob
from redisched.store.operations.queues import pause
from redisched.store.operations.schedules import (
    Definition,
    Fired,
    Put,
    SchedulePage,
    SlotToFire,
    fire,
    list_schedules,
    postpone,
    put_schedule,
    remove_schedule,
)
from tests.store.queue import LONGEST, NOON, Queue, new_job

MINUTE = 60_000
ODD_NAMES = ["a:b", "größe/1", "line\nfeed", "nul\0", "{tag}", "a%3Ab", " "]


def put(
    queue: Queue, name: str = "s", spec: bytes = b"spec", next_ms: int | None = NOON + MINUTE, wall: str = ""
) -> Put:
    return queue.do(
        put_schedule(queue.keyspace, name, spec=spec, after_ms=queue.now_ms, next_ms=next_ms, wall=wall)
    )


def page(queue: Queue, name: str = "", cursor: int = 0, limit: int = 100) -> SchedulePage:
    return queue.do(list_schedules(queue.keyspace, name=name, cursor=cursor, limit=limit))


def definition(queue: Queue, name: str = "s") -> Definition:
    (row,) = page(queue, name).rows
    return Definition.unpacked(row.definition)


def slot(
    queue: Queue,
    name: str = "s",
    *,
    at_ms: int = NOON + MINUTE,
    next_ms: int | None = NOON + 2 * MINUTE,
    job: NewJob | None = None,
    passed_over: bool = False,
    wall: str = "",
) -> SlotToFire:
    """The slot of a schedule as a worker sees it now."""
    kept = definition(queue, name)
    return SlotToFire(
        name=name,
        incarnation=kept.incarnation,
        revision=kept.revision,
        slot_id=wall or str(at_ms),
        at_ms=at_ms,
        wall=wall,
        next_ms=next_ms,
        job=None if passed_over else job or new_job(f"{name}@{at_ms}{wall}", at_ms=at_ms),
    )


def fired(queue: Queue, *slots: SlotToFire) -> list[Fired]:
    return queue.do(fire(queue.keyspace, slots))


def test_a_new_schedule_is_created_and_due_at_its_first_slot(queue: Queue) -> None:
    assert put(queue) is Put.CREATED
    kept = definition(queue)
    assert (kept.revision, kept.paused, kept.last_slot_ms, kept.last_wall, kept.fired) == (
        1,
        False,
        NOON,
        "",
        0,
    )
    assert kept.spec == b"spec"
    assert queue.zset("schedules") == {b"s": NOON + MINUTE}
    assert queue.turn(1).due == ()
    queue.pass_ms(MINUTE)
    (due,) = queue.turn(1).due
    assert (due.name, Definition.unpacked(due.definition)) == ("s", kept)


def test_the_same_definition_from_many_workers_changes_nothing(queue: Queue) -> None:
    put(queue)
    before = definition(queue)
    queue.pass_ms(MINUTE // 2)
    assert [put(queue, next_ms=NOON + 99 * MINUTE) for _ in range(3)] == [Put.UNCHANGED] * 3
    assert definition(queue) == before
    assert queue.zset("schedules") == {b"s": NOON + MINUTE}


def test_an_edit_keeps_the_schedule_and_never_fires_at_once(queue: Queue) -> None:
    put(queue)
    old = definition(queue)
    queue.pass_ms(90_000)
    assert put(queue, spec=b"new", next_ms=NOON, wall="2027-01-15T08:01:30") is Put.EDITED
    new = definition(queue)
    assert (new.incarnation, new.revision, new.spec) == (old.incarnation, 2, b"new")
    assert (new.last_slot_ms, new.last_wall) == (NOON + 90_000, "2027-01-15T08:01:30")
    assert queue.turn(1).due == ()


def test_a_schedule_whose_slots_are_over_is_kept_and_never_due(queue: Queue) -> None:
    assert put(queue, next_ms=None) is Put.CREATED
    assert (queue.zset("schedules"), page(queue, "s").rows[0].next_ms) == ({}, None)


def test_a_slot_becomes_one_job_whoever_fires_it_first(queue: Queue) -> None:
    put(queue)
    queue.pass_ms(MINUTE + 5)
    slots = [slot(queue, job=new_job(f"by w{n}", at_ms=NOON + MINUTE)) for n in range(3)]
    assert [fired(queue, one) for one in slots] == [[Fired.FIRED], [Fired.LOST], [Fired.LOST]]
    assert [claimed.id for claimed in queue.claim(5)] == ["by w0"]
    kept = definition(queue)
    assert (kept.last_slot_ms, kept.fired) == (NOON + MINUTE, 1)
    assert queue.zset("schedules") == {b"s": NOON + 2 * MINUTE}
    assert queue.counter("fired") == 1


def test_a_fired_job_knows_its_nominal_time(queue: Queue) -> None:
    put(queue)
    queue.pass_ms(MINUTE + 700)
    fired(queue, slot(queue))
    claimed = queue.claim_one()
    assert (claimed.due_ms, claimed.created_ms) == (NOON + MINUTE, NOON + MINUTE + 700)


def test_a_slot_fired_ahead_of_its_time_waits_for_it(queue: Queue) -> None:
    put(queue)
    fired(queue, slot(queue, job=new_job("jittered", at_ms=NOON + MINUTE + 30)))
    assert queue.look("jittered").run_at_ms == NOON + MINUTE + 30


def test_a_slot_key_holds_the_job_and_expires(queue: Queue) -> None:
    put(queue)
    one = slot(queue)
    fired(queue, one)
    key = queue.keyspace.slot(one.name, one.incarnation, one.slot_id)
    assert queue.redis.get(key) == f"s@{NOON + MINUTE}".encode()
    assert 0 < queue.redis.pttl(key) <= 86_400_000


def test_the_cursor_decides_and_not_the_slot_key(queue: Queue) -> None:
    """Keys with a TTL die when the clock steps or memory is short; a slot must not fire again then."""
    put(queue)
    first = slot(queue)
    fired(queue, first)
    queue.redis.delete(queue.keyspace.slot(first.name, first.incarnation, first.slot_id))
    again = slot(queue, job=new_job("again"))
    assert fired(queue, again) == [Fired.LOST]
    assert queue.look("again").state is JobState.NOT_FOUND


def test_the_slot_key_decides_where_the_cursor_was_set_back(queue: Queue) -> None:
    put(queue)
    before = queue.hash("definitions")[b"s"]
    fired(queue, slot(queue))
    queue.redis.hset(queue.key("definitions"), "s", before)
    assert fired(queue, slot(queue, job=new_job("again"))) == [Fired.LOST]
    assert (definition(queue).last_slot_ms, definition(queue).fired) == (NOON + MINUTE, 0)


def test_slots_before_the_cursor_are_lost(queue: Queue) -> None:
    put(queue)
    fired(queue, slot(queue, at_ms=NOON + 5 * MINUTE, next_ms=NOON + 6 * MINUTE))
    assert fired(queue, slot(queue, at_ms=NOON + 4 * MINUTE)) == [Fired.LOST]
    assert queue.zset("schedules") == {b"s": NOON + 6 * MINUTE}


def test_walls_before_the_cursor_are_lost_though_their_instant_is_new(queue: Queue) -> None:
    """When clocks go back, the same local time comes twice, an hour apart."""
    put(queue)
    assert fired(queue, slot(queue, wall="2027-10-31T01:30:00")) == [Fired.FIRED]
    hour_later = NOON + 61 * MINUTE
    assert fired(queue, slot(queue, at_ms=hour_later, wall="2027-10-31T01:30:00")) == [Fired.LOST]
    assert fired(queue, slot(queue, at_ms=hour_later, wall="2027-10-31T02:30:00")) == [Fired.FIRED]
    assert definition(queue).last_wall == "2027-10-31T02:30:00"


def test_a_stale_slot_that_is_still_due_moves_on_to_the_next(queue: Queue) -> None:
    """Or a schedule due by the store and not by a worker's zone data would come back in every turn."""
    put(queue)
    queue.pass_ms(MINUTE)
    never = slot(queue, at_ms=0, next_ms=NOON + 3 * MINUTE, passed_over=True)
    assert fired(queue, never) == [Fired.LOST]
    assert queue.zset("schedules") == {b"s": NOON + 3 * MINUTE}


def test_several_slots_of_one_schedule_fire_in_one_call(queue: Queue) -> None:
    put(queue)
    queue.pass_ms(9 * MINUTE)
    slots = [slot(queue, at_ms=NOON + n * MINUTE, next_ms=NOON + (n + 1) * MINUTE) for n in range(1, 6)]
    assert fired(queue, *slots, slots[0]) == [Fired.FIRED] * 5 + [Fired.LOST]
    assert len(queue.claim(9)) == 5
    assert (definition(queue).fired, queue.zset("schedules")) == (5, {b"s": NOON + 6 * MINUTE})


def test_a_slot_passed_over_is_counted_under_its_reason(queue: Queue) -> None:
    put(queue)
    assert fired(queue, slot(queue, passed_over=True)) == [Fired.PASSED_OVER]
    assert (queue.counter("passed_over"), queue.counter("fired")) == (1, 0)
    assert (definition(queue).last_slot_ms, definition(queue).fired) == (NOON + MINUTE, 0)
    assert queue.hash("jobs") == {}


def test_the_last_slot_leaves_nothing_due(queue: Queue) -> None:
    put(queue)
    assert fired(queue, slot(queue, next_ms=None)) == [Fired.FIRED]
    assert queue.zset("schedules") == {}


def test_a_slot_of_an_older_definition_is_lost(queue: Queue) -> None:
    put(queue)
    old = slot(queue)
    put(queue, spec=b"new", next_ms=NOON + 3 * MINUTE)
    assert fired(queue, old) == [Fired.LOST]
    assert queue.zset("schedules") == {b"s": NOON + 3 * MINUTE}
    assert queue.hash("jobs") == {}


def test_what_is_removed_fires_no_more(queue: Queue) -> None:
    put(queue)
    old = slot(queue)
    assert [queue.do(remove_schedule(queue.keyspace, "s")) for _ in range(2)] == [True, False]
    assert fired(queue, old) == [Fired.LOST]
    assert [queue.hash("definitions"), queue.zset("schedules"), queue.hash("jobs")] == [{}, {}, {}]


def test_a_schedule_made_again_is_another_one(queue: Queue) -> None:
    """Its slots are its own: those of the one removed do not count as fired."""
    put(queue)
    fired(queue, slot(queue, job=new_job("old")))
    first = definition(queue)
    queue.do(remove_schedule(queue.keyspace, "s"))
    assert put(queue) is Put.CREATED
    assert definition(queue).incarnation > first.incarnation
    assert fired(queue, slot(queue, job=new_job("new"))) == [Fired.FIRED]


def test_a_job_whose_id_is_taken_is_left_alone(queue: Queue) -> None:
    put(queue)
    queue.claim_one("taken")
    assert fired(queue, slot(queue, job=new_job("taken", b"other"))) == [Fired.LOST]
    assert (queue.look("taken").body, queue.look("taken").state) == (b"body", JobState.PROCESSING)
    assert definition(queue).last_slot_ms == NOON + MINUTE


def test_a_job_that_cannot_be_stored_costs_neither_its_slot_nor_those_before_it(queue: Queue) -> None:
    """A script that fails is not rolled back: what was fired before must be whole, and the rest untouched."""
    put(queue, "good")
    put(queue, "bad")
    bad = slot(queue, "bad", job=new_job("bad", priority=9))
    with pytest.raises(ScriptError):
        fired(queue, slot(queue, "good", job=new_job("good")), bad)
    assert queue.look("good").state is JobState.READY
    assert definition(queue, "bad").last_slot_ms == NOON
    assert fired(queue, slot(queue, "bad", job=new_job("mended"))) == [Fired.FIRED]


@pytest.mark.parametrize(
    "torn",
    [b"torn", b"", msgpack.packb([1, 1, 0, "x", "", 0, b"spec"]), msgpack.packb([1]), msgpack.packb({})],
)
def test_a_corrupt_definition_harms_no_other_schedule(queue: Queue, torn: bytes) -> None:
    for name in ("a", "bad", "z"):
        put(queue, name)
    slots = [slot(queue, name) for name in ("a", "bad", "z")]
    queue.redis.hset(queue.key("definitions"), "bad", torn)
    assert fired(queue, *slots) == [Fired.FIRED, Fired.LOST, Fired.FIRED]
    with pytest.raises(PayloadError):
        definition(queue, "bad")
    queue.pass_ms(MINUTE)
    assert [due.name for due in queue.turn(1).due] == ["bad"]
    assert queue.do(postpone(queue.keyspace, "bad", timedelta(minutes=1)))
    assert queue.turn(1).due == ()
    assert put(queue, "bad") is Put.CREATED


def test_a_schedule_that_is_gone_is_not_postponed(queue: Queue) -> None:
    assert not queue.do(postpone(queue.keyspace, "s", timedelta(minutes=1)))
    assert queue.zset("schedules") == {}


def test_a_foreign_member_among_the_schedules_is_reported_without_definition(queue: Queue) -> None:
    queue.redis.zadd(queue.key("schedules"), {b"\xff": 0})
    put(queue)
    queue.pass_ms(MINUTE)
    assert [(due.name, bool(due.definition)) for due in queue.turn(1).due] == [("\\xff", False), ("s", True)]


def test_due_schedules_are_reported_in_order_and_at_most_fifty(queue: Queue) -> None:
    for n in range(120):
        put(queue, f"s{n:03}", next_ms=NOON + 1 + n)
    queue.pass_ms(200)
    assert [due.name for due in queue.turn(1).due] == [f"s{n:03}" for n in range(50)]
    assert queue.turn(0).due == ()


def test_a_due_schedule_is_not_waited_for_and_the_next_slot_is(queue: Queue) -> None:
    put(queue, next_ms=NOON + 300)
    assert queue.turn(1, longest=LONGEST).wait_ms == 300
    queue.pass_ms(300)
    assert queue.turn(1, longest=LONGEST).wait_ms == 0


def test_a_new_schedule_and_a_fired_slot_leave_a_hint(queue: Queue) -> None:
    put(queue, next_ms=NOON + 300)
    assert queue.redis.lpop(queue.key("wake"))
    fired(queue, slot(queue))
    assert queue.redis.lpop(queue.key("wake"))


def test_a_paused_queue_still_fires(queue: Queue) -> None:
    put(queue)
    queue.do(pause(queue.keyspace))
    queue.pass_ms(MINUTE)
    assert [due.name for due in queue.turn(1).due] == ["s"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_of_any_characters(queue: Queue, name: str) -> None:
    put(queue, name)
    put(queue, "other")
    assert fired(queue, slot(queue, name, job=new_job("job"))) == [Fired.FIRED]
    assert page(queue, name).rows[0].name == name
    assert queue.do(remove_schedule(queue.keyspace, name))
    assert [row.name for row in page(queue).rows] == ["other"]


def test_names_that_join_alike_have_slots_of_their_own(queue: Queue) -> None:
    keyspace = queue.keyspace
    keys = {keyspace.slot(*parts) for parts in [("a:1", 2, "3"), ("a", 1, "2:3"), ("a%3A1", 2, "3")]}
    assert len(keys) == 3


def test_an_unknown_name_lists_an_empty_definition(queue: Queue) -> None:
    (row,) = page(queue, "nobody").rows
    assert (row.definition, row.next_ms) == (b"", None)


def test_pages_of_a_listing_cover_all(queue: Queue) -> None:
    names = {f"s{n}" for n in range(1_500)}
    for name in names:
        put(queue, name, spec=b"x" * 100)
    found: list[str] = []
    cursor, pages = 0, 0
    while pages == 0 or cursor:
        part = page(queue, cursor=cursor, limit=100)
        found += [row.name for row in part.rows]
        cursor, pages = part.cursor, pages + 1
        assert len(part.rows) < 300
    assert set(found) == names
    assert pages > 5


def test_a_hundred_thousand_versions_later_an_incarnation_is_still_whole(queue: Queue) -> None:
    queue.redis.set(queue.key("versions"), 2**40)
    put(queue)
    fired(queue, slot(queue))
    assert definition(queue).incarnation == 2**40 + 1
    assert queue.claim(1) == []
    queue.pass_ms(MINUTE)
    assert queue.claim_one().version > 2**40

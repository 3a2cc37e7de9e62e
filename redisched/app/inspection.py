"""From a stored job to what people read about it."""

from __future__ import annotations

from redisched.app.results import JobInfo, instant
from redisched.core.call import Call
from redisched.core.errors import PayloadError
from redisched.core.outcome import History
from redisched.store.operations.jobs import Look


def job_info(job_id: str, look: Look) -> JobInfo:
    """A corrupt job is described as far as it can be read; `reason` then says what is wrong with it."""
    call, fault = _call(look.body)
    record = look.record
    if record is None:
        return _unreadable(job_id, look, call, fault)
    return JobInfo(
        id=job_id,
        state=look.state,
        task=call.task if call else None,
        args=call.args if call else (),
        kwargs=dict(call.kwargs) if call else {},
        priority=record.priority,
        attempts=record.attempts,
        deliveries=record.deliveries,
        version=record.version,
        created_at=instant(record.created),
        due_at=instant(record.due),
        started_at=instant(record.claimed),
        ended_at=instant(record.ended),
        reason=record.reason or (fault or ""),
        worker=record.worker,
        unique=record.unique or None,
        alarm=look.alarm_at_ms is not None and look.alarm_at_ms <= look.now_ms,
        history=History.unpacked(record.outcome).attempts,
    )


def _call(body: bytes | None) -> tuple[Call | None, str | None]:
    if body is None:
        return None, None
    try:
        return Call.unpacked(body), None
    except PayloadError as error:
        return None, error.reason


def _unreadable(job_id: str, look: Look, call: Call | None, fault: str | None) -> JobInfo:
    return JobInfo(
        id=job_id,
        state=look.state,
        task=call.task if call else None,
        args=call.args if call else (),
        kwargs=dict(call.kwargs) if call else {},
        priority=0,
        attempts=0,
        deliveries=0,
        version=0,
        created_at=None,
        due_at=None,
        started_at=None,
        ended_at=None,
        reason=look.fault or fault or "",
        worker="",
        unique=None,
        alarm=False,
        history=(),
    )

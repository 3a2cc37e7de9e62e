"""A Redis-backed distributed scheduler: work for now, for later and on a timetable, while servers die."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from redisched.app.context import JobContext, SlotInfo, current_job
    from redisched.app.job import AsyncJob, Job
    from redisched.app.results import JobInfo
    from redisched.app.scheduler import Scheduler
    from redisched.app.task import Task, TaskCall
    from redisched.calendar import At, Cron, Every
    from redisched.core.errors import (
        ArgumentError,
        ConfigurationError,
        EmbeddedServerError,
        JobCancelledError,
        JobDeadError,
        JobError,
        JobExpiredError,
        JobNotFoundError,
        OutcomeUnknownError,
        PayloadError,
        RedischedError,
        ResultNotKeptError,
        ResultTimeoutError,
        ScheduleError,
        ScriptError,
        StoreError,
        StoreMisconfiguredError,
        StoreRefusedError,
        StoreUnavailableError,
    )
    from redisched.core.retry import Retry
    from redisched.core.states import CancelOutcome, JobState, RescheduleOutcome, ReviveOutcome

# Where the names live. They are looked up at their first use: a command line that needs an error class for
# its help does not wait for redis-py and the calendar.
_ROOMS: Final = (
    "core.errors",
    "core.retry",
    "core.states",
    "calendar",
    "app.results",
    "app.context",
    "app.task",
    "app.job",
    "app.scheduler",
)

__all__ = [
    "ArgumentError",
    "AsyncJob",
    "At",
    "CancelOutcome",
    "ConfigurationError",
    "Cron",
    "EmbeddedServerError",
    "Every",
    "Job",
    "JobCancelledError",
    "JobContext",
    "JobDeadError",
    "JobError",
    "JobExpiredError",
    "JobInfo",
    "JobNotFoundError",
    "JobState",
    "OutcomeUnknownError",
    "PayloadError",
    "RedischedError",
    "RescheduleOutcome",
    "ResultNotKeptError",
    "ResultTimeoutError",
    "Retry",
    "ReviveOutcome",
    "ScheduleError",
    "Scheduler",
    "ScriptError",
    "SlotInfo",
    "StoreError",
    "StoreMisconfiguredError",
    "StoreRefusedError",
    "StoreUnavailableError",
    "Task",
    "TaskCall",
    "current_job",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        for room in _ROOMS:
            module = import_module(f"{__name__}.{room}")
            if hasattr(module, name):
                return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

"""A Redis-backed distributed scheduler: work for now, for later and on a timetable, while servers die."""

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

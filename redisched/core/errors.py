"""Every error that redisched raises, as one tree.

RedischedError
├── ArgumentError (ValueError)         a value given by the caller is refused; nothing was stored
│   ├── PayloadError (TypeError)       an argument or result that cannot be carried faithfully
│   ├── ScheduleError                  a timetable that cannot be kept
│   └── ConfigurationError             a setting, a URL, an application path
├── StoreError                         the server, or the way to it
│   ├── StoreUnavailableError          nothing was sent, or the server is not ready; nothing happened
│   │   └── EmbeddedServerError        the embedded server cannot be started or joined
│   ├── OutcomeUnknownError            sent, and no reply: it may have happened; repeat with the same id
│   ├── StoreRefusedError              the server refused to write (memory, disk, replicas); nothing happened
│   ├── StoreMisconfiguredError        rights, password, TLS, cluster layout; repeating does not help
│   └── ScriptError                    a script of ours failed: a bug, with file and line
└── JobError                           why there is no result
    ├── JobNotFoundError               no job has this id (it never had, or it was pruned)
    ├── ResultNotKeptError             it succeeded, and its result is not kept
    ├── JobCancelledError
    ├── JobExpiredError                not started before its expiry
    ├── JobDeadError                   out of attempts or deliveries, or given up on
    └── ResultTimeoutError (TimeoutError)  it has not ended yet
"""

from __future__ import annotations


class RedischedError(Exception):
    """The root of every error raised by redisched."""


class ArgumentError(RedischedError, ValueError):
    """A value given by the caller is refused, and nothing was stored.

    `field` names what was refused, `value` is what was given, `reason` says why and what would do.
    """

    def __init__(self, field: str, value: object, reason: str) -> None:
        super().__init__(f"{field}={_shown(value)}: {reason}")
        self.field = field
        self.value = value
        self.reason = reason


class PayloadError(ArgumentError, TypeError):
    """An argument or a result that cannot be carried faithfully to another process."""


class ScheduleError(ArgumentError):
    """A timetable that cannot be kept: an expression, a zone, a policy, a name."""


class ConfigurationError(ArgumentError):
    """A setting, a server URL or an application path that cannot be used."""


class StoreError(RedischedError):
    """The server, or the way to it, failed."""


class StoreUnavailableError(StoreError):
    """Nothing was sent, or the server said that it is not ready: nothing happened."""


class OutcomeUnknownError(StoreError):
    """The request was sent and no reply came, or a part of it was done: it may or may not have happened.

    Repeating it with the same id, as given here, is safe. `job_id` is the job concerned, `job_ids` are all.
    """

    def __init__(self, what: str, job_ids: tuple[str, ...] = (), why: str = "no reply") -> None:
        named = f" for job {job_ids[0]}" if job_ids else ""
        more = f" and {len(job_ids) - 1} more" if len(job_ids) > 1 else ""
        super().__init__(f"{what}: {why}{named}{more}; it may have happened, repeat it with the same id")
        self.job_ids = job_ids

    @property
    def job_id(self) -> str | None:
        """The first job concerned, or None where the request concerned no job."""
        return self.job_ids[0] if self.job_ids else None


class StoreRefusedError(StoreError):
    """The server refuses to write (out of memory, disk, replicas): nothing happened."""


class StoreMisconfiguredError(StoreError):
    """Rights, password, TLS or cluster layout are wrong; repeating does not help."""


class ScriptError(StoreError):
    """A script of ours failed on the server: a bug in redisched. `place` is `file.lua:line`."""

    def __init__(self, message: str, place: str | None = None) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place


class EmbeddedServerError(StoreUnavailableError):
    """The embedded server cannot be started or joined; the message names the ways out."""


class JobError(RedischedError):
    """Why a job has no result to give. `job_id` names it."""

    def __init__(self, job_id: str, reason: str) -> None:
        super().__init__(f"job {job_id}: {reason}")
        self.job_id = job_id
        self.reason = reason


class JobNotFoundError(JobError):
    """No job has this id: it never had, or it was pruned after its retention."""


class ResultNotKeptError(JobError):
    """The job succeeded, and its result is not kept (retention 0)."""


class JobCancelledError(JobError):
    """The job was cancelled."""


class JobExpiredError(JobError):
    """The job was not started before its expiry."""


class JobDeadError(JobError):
    """The job is out of attempts or deliveries, or was given up on; `traceback` is its last failure."""

    def __init__(self, job_id: str, reason: str, traceback: str | None = None) -> None:
        super().__init__(job_id, reason)
        self.traceback = traceback


class ResultTimeoutError(JobError, TimeoutError):
    """The job has not ended within the time given."""


def _shown(value: object, limit: int = 120) -> str:
    """`value` as one short line: control characters escaped, the middle of a long text left out."""
    try:
        text = ascii(value)
    except Exception as error:  # noqa: BLE001 - a broken __repr__ must not hide the refusal
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 20]}…{text[-16:]}"

"""The closed sets: where a job can be, and what asking for a change came to."""

from __future__ import annotations

from enum import Enum


class JobState(Enum):
    """Where a job is. The last four are ends. In older words: WAITING is scheduled or ready,
    IN_PROGRESS is processing, DONE is succeeded, FAILED is dead.
    """

    SCHEDULED = "scheduled"
    READY = "ready"
    PROCESSING = "processing"
    SUCCEEDED = "succeeded"
    DEAD = "dead"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    NOT_FOUND = "not found"
    PRUNED = "pruned"

    @property
    def is_end(self) -> bool:
        """Whether nothing more will happen to the job by itself."""
        return self in {
            JobState.SUCCEEDED,
            JobState.DEAD,
            JobState.CANCELLED,
            JobState.EXPIRED,
            JobState.PRUNED,
        }


class CancelOutcome(Enum):
    """What `cancel` came to."""

    CANCELLED = "cancelled"
    STOP_REQUESTED = "running; asked to stop"
    ALREADY_ENDED = "already ended"
    NOT_FOUND = "not found"


class RescheduleOutcome(Enum):
    """What `reschedule` came to."""

    RESCHEDULED = "rescheduled"
    ALREADY_STARTED = "already started"
    ALREADY_ENDED = "already ended"
    NOT_FOUND = "not found"


class ReviveOutcome(Enum):
    """What `retry` of an ended job came to."""

    REVIVED = "revived"
    NOT_ENDED = "has not ended"
    NOT_FOUND = "not found"
    UNIQUE_KEY_HELD = "its unique key is held by another job"

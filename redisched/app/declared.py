"""Schedules declared in code, beside their task: put in force by the workers that start with that code."""

from __future__ import annotations

from dataclasses import dataclass

from redisched.app.schedules import put, timetable_of
from redisched.app.task import TaskCall
from redisched.app.timetables import Timetable
from redisched.calendar import Calendar
from redisched.store.keys import Keyspace
from redisched.store.operation import Flow
from redisched.store.operations.schedules import Put


@dataclass(frozen=True, slots=True)
class Declared:
    """A schedule as the code has it."""

    name: str
    queue: str
    timetable: Timetable

    def put(self, namespace: str) -> Flow[Put]:
        """The same declaration from any number of processes changes nothing after the first."""
        return put(Keyspace(namespace, self.queue), self.name, self.timetable)


def declaration(name: str, call: TaskCall[object], calendar: Calendar, missed: str, overlap: str) -> Declared:
    timetable = timetable_of(name, call, calendar, missed, overlap)
    return Declared(name, call.queue, timetable)

"""Timetables: pure computation of slots, with no clock and no Redis."""

from redisched.calendar.at import At
from redisched.calendar.cron import Cron
from redisched.calendar.every import Every
from redisched.calendar.protocol import Calendar, Spec
from redisched.calendar.slots import Slot
from redisched.calendar.specs import from_spec
from redisched.calendar.zones import zone_data_version

__all__ = ["At", "Calendar", "Cron", "Every", "Slot", "Spec", "from_spec", "zone_data_version"]

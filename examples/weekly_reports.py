"""Each owner's weekly report, Monday 09:00 in the owner's own zone.

Run a worker in one terminal, and this file in another, as often as you like:

    redisched worker reports --app weekly_reports:app --app-dir examples
    python examples/weekly_reports.py
"""

from zoneinfo import ZoneInfo

from redisched import Cron, Scheduler, current_job

app = Scheduler()

OWNERS = {"ada": "Europe/London", "grace": "America/New_York", "hedy": "Australia/Lord_Howe"}


@app.task(queue="reports")
def weekly_report(owner: str) -> None:
    slot = current_job().slot
    print(f"the report of {owner} for {slot.at if slot else 'now'}")


if __name__ == "__main__":
    for owner, zone in OWNERS.items():
        name = f"report:{owner}"
        # The same again changes nothing: put it wherever an owner is saved. Of all workers one fires a slot.
        put = app.schedules.upsert(name, weekly_report.call(owner), Cron("0 9 * * MON", tz=zone))
        (monday,) = app.schedules.next(name, 1, queue="reports")
        print(
            f"{name}: {put.name.lower()}, next on {monday.astimezone(ZoneInfo(zone)):%A at %H:%M} in {zone}"
        )

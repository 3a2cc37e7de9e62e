"""One job at a time for a thing; another time for it; and none at all.

Run a worker in one terminal, and this file in another:

    redisched worker --app unique_jobs:app --app-dir examples
    python examples/unique_jobs.py
"""

from redisched import JobCancelledError, Scheduler

app = Scheduler()


@app.task
def refresh_preview(code: str) -> str:
    return f"preview of {code} is new"


if __name__ == "__main__":
    # However often a link is edited, one refresh waits. The key is free again when the job ends.
    once = app.options(unique="preview:x7Kp")
    first = once.enqueue_in("10m", refresh_preview, "x7Kp")
    second = once.enqueue_in("10m", refresh_preview, "x7Kp")
    print(f"two calls, one job: {first.created} {second.created} {first.id == second.id}")

    print(f"sooner: {second.reschedule(delay='0.5s').value}")
    print(first.result(timeout=30))
    print(f"too late: {first.cancel().value}")

    # An id of your own makes a call safe to repeat, also when its reply was lost.
    order = app.options(job_id="preview-of-order-42")
    doomed = order.enqueue_in("1h", refresh_preview, "q9Zt")
    print(f"the same id again: {order.enqueue_in('1h', refresh_preview, 'q9Zt').created}")
    print(f"no more: {doomed.cancel().value}")
    try:
        doomed.result()
    except JobCancelledError as error:
        print(f"no result: {error.reason}")
    doomed.retry()
    print(f"wanted after all: {doomed.result(timeout=30)}")

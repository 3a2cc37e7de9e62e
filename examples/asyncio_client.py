"""The same calls for asyncio: many jobs at once, and their results as they come.

Run a worker in one terminal, and this file in another:

    redisched worker --app asyncio_client:app --app-dir examples
    python examples/asyncio_client.py
"""

import asyncio

from redisched import Scheduler

app = Scheduler()


@app.task
async def check(code: str) -> str:
    await asyncio.sleep(0.05)  # asks somebody; a hundred such jobs wait at once in one worker
    return f"{code} is fine"


async def main() -> None:
    jobs = await app.aio.enqueue_many(check.call(f"link-{number}") for number in range(100))
    results = await asyncio.gather(*(job.result(timeout=30) for job in jobs))
    print(f"{len(results)} checked: {results[0]} … {results[-1]}")

    late = await app.aio.enqueue_in("1h", check, "x7Kp")
    print(f"in an hour: {(await late.status()).value}")
    await late.reschedule(delay=0)
    print(f"brought forward: {await late.result(timeout=30)}")
    await app.aio.close()


if __name__ == "__main__":
    asyncio.run(main())

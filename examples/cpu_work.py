"""Work for the processor: in a process of its own, which a timeout can really end.

Run a worker in one terminal, and this file in another:

    redisched worker --app cpu_work:app --app-dir examples
    python examples/cpu_work.py
"""

from redisched import JobDeadError, Retry, Scheduler

app = Scheduler()


# Neither the worker's other jobs nor its heartbeat wait for this one; as many run at once as there are cores.
@app.task(executor="process", timeout="3s", retry=Retry(max_attempts=1))
def count_primes(below: int) -> int:
    return sum(all(number % i for i in range(2, int(number**0.5) + 1)) for number in range(2, below))


if __name__ == "__main__":
    print(f"primes below 20,000: {app.enqueue(count_primes, 20_000).result(timeout=30)}")
    try:
        app.enqueue(count_primes, 10**12).result(timeout=30)
    except JobDeadError as error:
        print(f"below 10^12: {error.reason}")

"""A web application that answers at once and leaves the work to workers. `docker compose up` runs it, too.

Run a worker in one terminal, this file in another, and ask it from a third:

    redisched worker --app web:app --app-dir examples
    python examples/web.py
    curl -X POST localhost:8000/links/x7Kp/report
    curl localhost:8000/jobs/default:01…

The answers: 202 and the id of a job; where that job is, and its result.
"""

import json
import os
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from redisched import ArgumentError, JobError, Scheduler, StoreError

Answer = tuple[int, object]

app = Scheduler()


@app.task
def make_report(code: str) -> dict[str, object]:
    return {"code": code, "clicks": len(code) * 1000}


def start_report(code: str) -> Answer:
    # A second request while the first is at work gets the same job.
    return 202, {"job": app.options(unique=f"report:{code}").enqueue(make_report, code).id}


def look(job_id: str) -> Answer:
    info = app.job(job_id).info()
    found: dict[str, object] = {"job": info.id, "state": info.state.value}
    if info.state.is_end:
        try:
            found["result"] = app.job(job_id).result()
        except JobError as error:
            found["reason"] = error.reason
    return 404 if info.state.value == "not found" else 200, found


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        match self.path.split("/"):
            case ["", "links", code, "report"]:
                self._answer(lambda: start_report(code))
            case _:
                self._answer(lambda: (404, {}))

    def do_GET(self) -> None:
        match self.path.split("/"):
            case ["", "jobs", job_id]:
                self._answer(lambda: look(job_id))
            case ["", "health"]:
                self._answer(lambda: (200, {"app": "up"}))
            case _:
                self._answer(lambda: (404, {}))

    def _answer(self, work: Callable[[], Answer]) -> None:
        try:
            status, body = work()
        except ArgumentError as error:
            status, body = 400, {"error": str(error)}
        except StoreError as error:
            status, body = 503, {"error": str(error)}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


if __name__ == "__main__":
    address = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8000"))
    with ThreadingHTTPServer(address, Handler) as server:
        print(f"http://{address[0]}:{server.server_port}", flush=True)
        server.serve_forever()

"""A webhook that is tried again, later each time, until the other side takes it.

Run a worker in one terminal, and this file in another:

    redisched worker --app webhook_retries:app --app-dir examples
    python examples/webhook_retries.py
"""

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from redisched import JobDeadError, Retry, Scheduler, current_job

app = Scheduler()


class RefusedError(Exception):
    """The other side will never take it."""


# For real webhooks: Retry(max_attempts=12, base="10s", cap="6h"), with its jitter, so that a receiver that
# comes back is not run over by all that waits for it.
@app.task(
    retry=Retry(max_attempts=5, base=0.2, factor=2, jitter="none", give_up_on=(RefusedError,)), timeout="30s"
)
def send_webhook(url: str, event: str) -> str:
    try:
        with urlopen(Request(url, event.encode()), timeout=10) as answer:
            return f"{event}: {answer.status} at attempt {current_job().attempt}"
    except HTTPError as error:
        if error.code == 410:
            raise RefusedError(f"{url} is gone") from error
        raise


class Receiver(BaseHTTPRequestHandler):
    """Answers 503 twice; /gone answers 410."""

    asked = 0

    def do_POST(self) -> None:
        type(self).asked += 1
        self.send_response(410 if self.path == "/gone" else 503 if self.asked < 3 else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    with HTTPServer(("127.0.0.1", 0), Receiver) as receiver:
        Thread(target=receiver.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{receiver.server_port}"
        print(app.enqueue(send_webhook, f"{origin}/hook", "link.created").result(timeout=60))
        try:
            app.enqueue(send_webhook, f"{origin}/gone", "link.created").result(timeout=60)
        except JobDeadError as error:
            print(f"given up: {error.reason}")
        receiver.shutdown()

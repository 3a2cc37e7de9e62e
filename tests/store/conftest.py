"""The fixture `queue`: after each test, every job must be in exactly one place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import TestServer
from tests.store.queue import Queue


@pytest.fixture
def queue(server: TestServer) -> Iterator[Queue]:
    """An empty queue; unless the test says that it tampered with it, it must be whole at the end."""
    empty = Queue(server)
    yield empty
    problems = empty.problems()
    empty.executor.close()
    assert not problems, "\n".join(problems)

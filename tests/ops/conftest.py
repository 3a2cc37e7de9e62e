"""The fixture `yard`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ops.yard import Yard
from tests.servers import TestServer


@pytest.fixture
def yard(server: TestServer) -> Iterator[Yard]:
    """An empty queue on the shared server."""
    made = Yard(server)
    yield made
    made.close()

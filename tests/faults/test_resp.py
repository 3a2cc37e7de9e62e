"""Requests and replies are told apart, however the stream is cut into chunks."""

from __future__ import annotations

import pytest

from tests.faults.resp import Frames, frame_end

VALUES = [
    b"+OK\r\n",
    b"-ERR no\r\n",
    b":12\r\n",
    b"$5\r\nhello\r\n",
    b"$0\r\n\r\n",
    b"$-1\r\n",
    b"$4\r\n\r\n*9\r\n",
    b"*0\r\n",
    b"*-1\r\n",
    b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
    b"*3\r\n*2\r\n:1\r\n*0\r\n$-1\r\n+x\r\n",
    b"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n",
    b">2\r\n+message\r\n$2\r\nhi\r\n",
    b"|1\r\n+ttl\r\n:5\r\n*1\r\n:1\r\n",
    b"PING\r\n",
]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_ends_where_it_ends(value: bytes) -> None:
    assert frame_end(value + b"+next\r\n") == len(value)
    assert [frame_end(value[:length]) for length in range(len(value))] == [None] * len(value)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_chunks_of_any_size_give_the_same_values(size: int) -> None:
    stream = b"".join(VALUES)
    frames = Frames()
    chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert [value for chunk in chunks for value in frames.feed(chunk)] == VALUES

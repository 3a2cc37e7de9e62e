"""Messages between a worker and its children: packed values, each behind its length in four bytes."""

from __future__ import annotations

import asyncio
import socket
from typing import Final

from redisched.core.values import pack, unpack

_LENGTH: Final = 4


def framed(message: object) -> bytes:
    data = pack(message, field="message")
    return len(data).to_bytes(_LENGTH, "big") + data


async def read_frame(reader: asyncio.StreamReader) -> object:
    """The next message; raises asyncio.IncompleteReadError or OSError once the other side is gone."""
    size = int.from_bytes(await reader.readexactly(_LENGTH), "big")
    return unpack(await reader.readexactly(size))


def receive_frame(connection: socket.socket) -> object | None:
    """The next message, blocking; None once the other side is gone."""
    head = _received(connection, _LENGTH)
    body = _received(connection, int.from_bytes(head, "big")) if head else None
    return None if body is None else unpack(body)


def _received(connection: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            return None
        parts += part
    return bytes(parts)

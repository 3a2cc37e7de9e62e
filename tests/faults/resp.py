"""Where one request or reply ends in a stream of bytes: all that a proxy has to know of the protocol."""

from __future__ import annotations

from typing import Final

_END: Final = b"\r\n"
_SIZED: Final = b"$=!"
# How many further values belong to one that announces n of them.
_NESTED: Final = {ord("*"): 1, ord("~"): 1, ord(">"): 1, ord("%"): 2, ord("|"): 2}


class Frames:
    """Cuts a stream into its top-level values; what is not complete waits for more bytes."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The values that are complete now that `chunk` has come."""
        self._bytes += chunk
        complete = []
        while (end := frame_end(self._bytes)) is not None:
            complete.append(bytes(self._bytes[:end]))
            del self._bytes[:end]
        return complete


def frame_end(stream: bytes | bytearray) -> int | None:
    """Where the first value of `stream` ends, or None when it is not all there."""
    place, missing = 0, 1
    while missing:
        line = stream.find(_END, place)
        if line < 0:
            return None
        kind, after = stream[place], line + len(_END)
        missing -= 1
        if kind in _NESTED:
            missing += max(0, int(stream[place + 1 : line])) * _NESTED[kind]
            # An attribute comes before the value that it belongs to.
            missing += kind == ord("|")
        elif kind in _SIZED:
            size = int(stream[place + 1 : line])
            after += size + len(_END) if size >= 0 else 0
        place = after
    return place if place <= len(stream) else None

"""A process that uses an embedded server and does what it is told, a word on a line. Run with -m."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from redisched.embedded import join, status, stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from redisched.embedded import Membership


def in_fork(work: Callable[[], object]) -> str:
    """What `work` returns in a forked child, which ends without cleaning up after it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, str(work()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    return text


def forked_user(member: Membership, folder: Path) -> str:
    """A forked child that has joined for itself is asked, after its parent left, whether the server runs."""
    leaving, left = os.pipe()
    ensured, joining = os.pipe()
    pid = os.fork()
    if pid == 0:
        member.ensure()
        os.write(joining, b".")
        os.read(leaving, 1)
        os._exit(0 if status(folder).running and member.leave() else 1)
    os.read(ensured, 1)
    stopped = member.leave()
    os.write(left, b".")
    _, code = os.waitpid(pid, 0)
    return f"{stopped} {os.waitstatus_to_exitcode(code)}"


def fork_amid_start(member: Membership) -> bool:
    """Whether the server's lock is free once its holder closed it, while a child forked meanwhile lives."""
    stop(member._plan.folder.path)
    assert member._server.seize()
    leaving, left = os.pipe()
    lives, living = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(living, b".")
        os.read(leaving, 1)
        os._exit(0)
    os.read(lives, 1)
    member._server.abandon()
    free = member._server.seize()
    member._server.release()
    os.write(left, b".")
    os.waitpid(pid, 0)
    return free


def obey(word: str, member: Membership, folder: Path) -> object:
    """Do one thing and say what came of it."""
    match word:
        case "leave":
            return member.leave()
        case "leave-in-fork":
            return in_fork(member.leave)
        case "forked-user":
            return forked_user(member, folder)
        case "fork-amid-start":
            return fork_amid_start(member)
    raise ValueError(word)


def main() -> None:
    folder = Path(sys.argv[1])
    member = join(folder)
    print(member.url, flush=True)
    for line in sys.stdin:
        print(obey(line.strip(), member, folder), flush=True)


if __name__ == "__main__":
    main()

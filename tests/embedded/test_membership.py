"""Joining, leaving, and what becomes of the server when its users or it itself are killed."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from redisched.core.errors import ConfigurationError, EmbeddedServerError
from redisched.embedded import join, status, stop
from redisched.embedded.lock_file import LockFile
from tests.embedded.conftest import client, facts
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from redisched.embedded import Membership
    from tests.embedded.members import Member


def kill_server(folder: Path) -> None:
    """SIGKILL, and wait until the kernel has freed its lock."""
    os.kill(facts(folder).pid, signal.SIGKILL)
    wait_for(lambda: not status(folder).running, what="the killed server to be gone")


def test_twelve_processes_that_start_at_once_share_one_server(
    folder: Path, start_member: Callable[[], Member]
) -> None:
    members = [start_member() for _ in range(12)]

    urls = {member.joined() for member in members}

    assert len(urls) == 1
    assert (folder / "server.log").read_text().count("Server initialized") == 1
    assert [member.tell("leave") for member in members] == ["False"] * 11 + ["True"]


def test_the_last_to_leave_stops_the_server(folder: Path, member: Membership) -> None:
    other = join(folder)

    assert not member.leave()
    assert status(folder).running
    assert other.leave()
    assert not status(folder).running


def test_leaving_twice_is_leaving_once(folder: Path, member: Membership) -> None:
    other = join(folder)
    member.leave()

    assert not member.leave()
    assert status(folder).running
    other.leave()


def test_who_left_can_use_the_server_again(folder: Path, member: Membership) -> None:
    client(member).set("greeting", "hello")
    member.leave()

    member.ensure()

    assert client(member).get("greeting") == "hello"


def test_the_server_survives_the_kill_of_its_starter(
    folder: Path, start_member: Callable[[], Member]
) -> None:
    starter = start_member()
    starter.joined()
    pid = facts(folder).pid

    starter.kill()

    assert facts(folder).pid == pid
    assert join(folder).leave(), "the killed process does not count as a user"


def test_a_killed_server_is_started_again_with_its_data(folder: Path, member: Membership) -> None:
    client(member).set("greeting", "hello")
    kill_server(folder)

    member.ensure()

    assert client(member).get("greeting") == "hello"


def test_many_threads_that_lost_the_server_start_one(folder: Path, member: Membership) -> None:
    kill_server(folder)
    threads = [threading.Thread(target=member.ensure) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (folder / "server.log").read_text().count("Server initialized") == 2
    assert status(folder).running


def test_ensure_leaves_a_running_server_alone(folder: Path, member: Membership) -> None:
    pid = facts(folder).pid

    member.ensure()

    assert facts(folder).pid == pid


def test_an_interrupt_of_the_process_group_spares_the_server(
    folder: Path, start_member: Callable[[], Member]
) -> None:
    starter = start_member()
    starter.joined()

    os.killpg(starter.process.pid, signal.SIGINT)
    starter.process.wait()

    assert status(folder).running


def test_a_forked_child_that_leaves_does_not_leave_for_its_parent(
    folder: Path, start_member: Callable[[], Member]
) -> None:
    parent = start_member()
    parent.joined()

    assert parent.tell("leave-in-fork") == "False"

    assert not join(folder).leave(), "the parent still counts as a user"
    assert parent.tell("leave") == "True"


def test_a_forked_child_that_joined_is_a_user_of_its_own(
    folder: Path, start_member: Callable[[], Member]
) -> None:
    parent = start_member()
    parent.joined()

    stopped, exit_code = parent.tell("forked-user").split()

    assert stopped == "False"
    assert exit_code == "0", "the server ran until the child left it"
    assert not status(folder).running


def test_a_child_forked_amid_a_start_does_not_keep_the_servers_lock(
    start_member: Callable[[], Member],
) -> None:
    member = start_member()
    member.joined()

    assert member.tell("fork-amid-start") == "True"


def test_no_lock_is_inherited_by_a_started_program(member: Membership, folder: Path) -> None:
    for lock in (LockFile(folder / "users.lock"), LockFile(folder / "server.lock")):
        assert not os.get_inheritable(lock.fileno())
        lock.abandon()


def test_a_server_that_cannot_start_is_told_with_its_last_words(folder: Path, member: Membership) -> None:
    client(member).set("greeting", "hello")
    member.leave()
    written = next((folder / "db" / "appendonlydir").glob("*.incr.aof"))
    written.write_bytes(b"*not an append-only file\r\n" * 10)

    with pytest.raises(EmbeddedServerError, match=r"ended while starting; .*Bad file format"):
        join(folder)

    assert not status(folder).running


def test_the_strictest_user_decides_how_safe_the_data_is(folder: Path) -> None:
    relaxed = join(folder, fsync="everysec")
    assert facts(folder).fsync == "everysec"

    strict = join(folder)
    assert facts(folder).fsync == "always"

    join(folder, fsync="everysec").leave()
    assert facts(folder).fsync == "always"
    strict.leave()
    relaxed.leave()


def test_an_unknown_fsync_is_refused_before_anything_starts(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="either 'always' or 'everysec'"):
        join(folder, fsync="sometimes")  # type: ignore[arg-type]

    assert not folder.exists()


def test_stop_ends_the_server_and_its_users_can_start_it_again(folder: Path, member: Membership) -> None:
    client(member).set("greeting", "hello")

    assert stop(folder)
    assert not status(folder).running

    member.ensure()
    assert client(member).get("greeting") == "hello"


def test_stop_without_a_server_does_nothing(folder: Path) -> None:
    assert not stop(folder)
    assert not folder.exists()

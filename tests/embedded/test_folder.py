"""Which data folder is used, folders with difficult names, and folders on a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from redisched.core.errors import ConfigurationError, EmbeddedServerError
from redisched.embedded import data_folder, join, status, stop
from redisched.embedded.address import TOO_LONG, socket_of
from redisched.embedded.filesystem import mounted_kind, network_warning
from redisched.embedded.folder import Folder
from redisched.embedded.server_conf import quoted
from tests.embedded.conftest import client

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HOME = {"HOME": "/home/ada"}
XDG = {**HOME, "XDG_DATA_HOME": "/data"}
SERVICE = {**XDG, "STATE_DIRECTORY": "/var/lib/ada:/var/lib/more"}
NAMED = {**SERVICE, "REDISCHED_DATA_DIR": "/srv/redisched"}


@pytest.mark.parametrize(
    ("explicit", "environ", "platform", "expected"),
    [
        ("/mine", NAMED, "linux", "/mine"),
        (None, NAMED, "linux", "/srv/redisched"),
        (None, SERVICE, "linux", "/var/lib/ada"),
        (None, XDG, "linux", "/data/redisched"),
        (None, XDG, "darwin", "/data/redisched"),
        (None, {**HOME, "XDG_DATA_HOME": "relative"}, "linux", "/home/ada/.local/share/redisched"),
        (None, HOME, "linux", "/home/ada/.local/share/redisched"),
        (None, HOME, "darwin", "/home/ada/Library/Application Support/redisched"),
    ],
)
def test_the_order_of_data_folders(
    explicit: str | None, environ: Mapping[str, str], platform: str, expected: str
) -> None:
    assert data_folder(explicit, environ, platform) == Path(expected)


def test_a_data_folder_set_to_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"REDISCHED_DATA_DIR.*set to nothing"):
        data_folder(None, {**HOME, "REDISCHED_DATA_DIR": ""})


def test_a_relative_folder_is_taken_from_the_working_directory() -> None:
    assert data_folder("here", HOME) == Path.cwd() / "here"


@pytest.mark.parametrize("name", ["with space", 'with"quote', "with'apostrophe", "é", "%41?#", "back\\slash"])
def test_a_folder_with_a_difficult_name_works(make_folder: Callable[[str], Path], name: str) -> None:
    place = make_folder(name)
    member = join(place)

    assert client(member).config_get("dir") == {"dir": str(place / "db")}
    assert member.leave()


def test_unusual_bytes_are_escaped_in_the_configuration() -> None:
    assert quoted(Path('/a b"é\n')) == '"/a b\\x22\\xc3\\xa9\\x0a"'


def test_a_folder_too_long_for_a_socket_has_it_in_the_runtime_directory(
    long_folder: Path, runtime: Path
) -> None:
    member = join(long_folder, environ={"XDG_RUNTIME_DIR": str(runtime)})

    assert status(long_folder).socket.parent == runtime
    assert client(member).ping()
    assert member.leave()


def test_without_a_runtime_directory_a_long_folder_has_its_socket_in_the_temporary_one(
    long_folder: Path, tmp_path: Path
) -> None:
    member = join(long_folder, environ={"TMPDIR": str(tmp_path)})
    socket = status(long_folder).socket

    assert socket.parent.parent == tmp_path
    assert socket.parent.stat().st_mode & 0o777 == 0o700
    assert member.leave()


def test_processes_with_other_runtime_directories_meet_at_one_socket(
    long_folder: Path, runtime: Path, tmp_path: Path
) -> None:
    """A cron job has no XDG_RUNTIME_DIR, the login session that started the server has one."""
    session = join(long_folder, environ={"XDG_RUNTIME_DIR": str(runtime)})
    cron = join(long_folder, environ={"TMPDIR": str(tmp_path)})

    assert session.url == cron.url
    session.leave()
    assert cron.leave()


def test_a_long_folder_moves_its_socket_when_the_runtime_directory_is_gone(
    long_folder: Path, runtime: Path, tmp_path: Path
) -> None:
    environ = {"XDG_RUNTIME_DIR": str(runtime), "TMPDIR": str(tmp_path)}
    join(long_folder, environ=environ).leave()
    runtime.rmdir()

    member = join(long_folder, environ=environ)

    assert client(member).ping()
    assert stop(long_folder)
    member.leave()


def test_a_temporary_directory_prepared_by_somebody_is_refused(long_folder: Path, tmp_path: Path) -> None:
    environ = {"TMPDIR": str(tmp_path)}
    theirs = socket_of(Folder.at(long_folder), environ).parent
    theirs.mkdir()
    theirs.chmod(0o777)

    with pytest.raises(EmbeddedServerError, match="open to others"):
        socket_of(Folder.at(long_folder), environ)


def test_where_every_path_is_too_long_the_way_out_is_named(long_folder: Path, tmp_path: Path) -> None:
    long_temporary = tmp_path / ("t" * TOO_LONG)

    with pytest.raises(EmbeddedServerError, match="use a shorter path"):
        socket_of(Folder.at(long_folder), {"TMPDIR": str(long_temporary)})


MOUNTS = """\
22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 0:40 / /home rw,relatime shared:1 - nfs4 server:/home rw
31 30 0:41 / /home/a\\040b rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"), [("/var/lib", "ext4"), ("/home/ada", "nfs4"), ("/home/a b/x", "tmpfs")]
)
def test_the_innermost_mount_tells_the_file_system(folder: str, kind: str) -> None:
    assert mounted_kind(Path(folder), MOUNTS) == kind


def test_a_folder_on_nfs_is_warned_about(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)

    assert "is on nfs4" in (network_warning(Path("/home/ada/redisched"), mounts) or "")
    assert network_warning(Path("/var/lib/redisched"), mounts) is None
    assert network_warning(Path("/home/ada"), tmp_path / "absent") is None

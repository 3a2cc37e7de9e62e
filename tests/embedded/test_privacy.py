"""Nobody but the owner reaches the server or its data."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from redisched.core.errors import EmbeddedServerError
from redisched.embedded import join
from redisched.embedded.privacy import make_private, require_private
from tests.embedded.conftest import client, facts

if TYPE_CHECKING:
    from redisched.embedded import Membership


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_folder_and_all_in_it_are_the_owners_alone(folder: Path, member: Membership) -> None:
    client(member).set("greeting", "hello")

    assert mode(folder) == 0o700
    open_to_others = [path for path in folder.rglob("*") if mode(path) & 0o077]
    assert open_to_others == []
    assert {"redis.sock", "server.conf", "server.log", "db"} <= {path.name for path in folder.iterdir()}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads /proc/net/tcp")
def test_the_server_listens_on_no_tcp_port(folder: Path, member: Membership) -> None:
    descriptors = Path(f"/proc/{facts(folder).pid}/fd")
    own = {str(link.readlink()) for link in descriptors.iterdir()}
    lines = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()

    tcp = {f"socket:[{line.split()[9]}]" for line in lines.splitlines() if "local_address" not in line}

    assert own & tcp == set()
    assert client(member).config_get("port") == {"port": "0"}


def test_an_empty_folder_that_is_open_is_closed(folder: Path) -> None:
    folder.mkdir(mode=0o755)

    join(folder).leave()

    assert mode(folder) == 0o700


def test_an_open_folder_with_other_things_in_it_is_refused_untouched(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    (folder / "thesis.txt").touch()

    with pytest.raises(EmbeddedServerError, match=r"is open to others \(mode 0755\)"):
        join(folder)

    assert mode(folder) == 0o755
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_a_folder_of_ours_that_was_opened_is_closed_again(folder: Path) -> None:
    join(folder).leave()
    folder.chmod(0o755)

    join(folder).leave()

    assert mode(folder) == 0o700


def test_a_folder_of_somebody_else_is_refused(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    folder.mkdir(mode=0o755)
    os.chown(folder, 12345, -1)

    with pytest.raises(EmbeddedServerError, match="belongs to user id 12345"):
        make_private(folder)

    assert mode(folder) == 0o755


def test_a_link_is_no_private_directory(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)

    with pytest.raises(EmbeddedServerError, match="is a link"):
        require_private(tmp_path / "link")


def test_a_file_in_place_of_the_folder_is_refused(folder: Path) -> None:
    folder.touch()

    with pytest.raises(EmbeddedServerError, match="name another"):
        join(folder)
    folder.unlink()

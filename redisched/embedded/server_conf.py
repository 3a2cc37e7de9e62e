"""The configuration that the embedded server runs with, as text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Literal, get_args

from redisched.core.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from redisched.embedded.folder import Folder

Fsync = Literal["always", "everysec"]

# No preamble: Redis 7, Redis 8 and Valkey 9 then read one another's folders; with it, Redis 8 and Valkey 9
# write what no other engine opens.
TEMPLATE: Final = """\
port 0
unixsocket {socket}
unixsocketperm 600
protected-mode yes
dir {database}
save ""
appendonly yes
appendfsync {fsync}
aof-use-rdb-preamble no
no-appendfsync-on-rewrite no
auto-aof-rewrite-percentage 100
auto-aof-rewrite-min-size 64mb
aof-load-truncated yes
maxmemory-policy noeviction
databases 1
daemonize no
logfile {log}
enable-debug-command no
enable-module-command no
enable-protected-configs no
"""


def server_conf(folder: Folder, socket: Path, fsync: Fsync) -> str:
    """Everything the server is told; plain ASCII whatever the paths hold."""
    return TEMPLATE.format(
        socket=quoted(socket), database=quoted(folder.database), log=quoted(folder.log), fsync=fsync
    )


def quoted(path: Path) -> str:
    """`path` as the server reads it back byte for byte: in double quotes, anything unusual as \\xHH."""
    return '"' + "".join(_escaped(byte) for byte in os.fsencode(path)) + '"'


def require_fsync(value: str) -> None:
    """Refuse a word that is not one of the two levels."""
    if value not in get_args(Fsync):
        raise ConfigurationError("fsync", value, "either 'always' or 'everysec'")


def _escaped(byte: int) -> str:
    plain = 0x20 <= byte < 0x7F and chr(byte) not in '"\\'
    return chr(byte) if plain else f"\\x{byte:02x}"

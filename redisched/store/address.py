"""Where the server is: a URL, read once into what redis-py's connections take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from redisched.core.errors import ConfigurationError

_FORMS: Final = (
    "redis://[user:password@]host[:port][/db], rediss://… for TLS, or unix:///path/to/socket[?db=N]"
)


@dataclass(frozen=True, slots=True)
class Address:
    """One server. `password` never shows in a repr or a log line."""

    host: str | None = None
    port: int = 6379
    path: str | None = None
    db: int = 0
    username: str | None = None
    password: str | None = None
    tls: bool = False
    ca_file: str | None = None

    @classmethod
    def parse(cls, url: str) -> Address:
        """Raises ConfigurationError for a URL that is none of the known forms."""
        parts = urlsplit(url)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        try:
            port = parts.port or 6379
            db = int(query.get("db") or (parts.path.strip("/") if parts.scheme != "unix" else "") or 0)
        except ValueError as error:
            raise ConfigurationError("url", _hidden(url), f"{error}; use {_FORMS}") from error
        user = unquote(parts.username) if parts.username else None
        password = unquote(parts.password) if parts.password else None
        if parts.scheme == "unix" and parts.path:
            return cls(path=unquote(parts.path), db=db, username=user, password=password)
        if parts.scheme in {"redis", "rediss"} and parts.hostname:
            tls = parts.scheme == "rediss"
            return cls(parts.hostname, port, None, db, user, password, tls, query.get("ssl_ca_certs"))
        raise ConfigurationError("url", _hidden(url), f"use {_FORMS}")

    def __str__(self) -> str:
        """For people: without the password."""
        if self.path:
            return f"unix://{self.path}" + (f"?db={self.db}" if self.db else "")
        return f"redis{'s' if self.tls else ''}://{self.host}:{self.port}/{self.db}"

    __repr__ = __str__


def _hidden(url: str) -> str:
    """The URL without its password."""
    head, at, tail = url.rpartition("@")
    return f"{head.split(':', 1)[0]}://…@{tail}" if at else url

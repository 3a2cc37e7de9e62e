"""docker-compose.yml: what it starts is ours to start, in the right order, on a Redis that keeps jobs.

There is no container engine in the tests. What its containers run is held against the command line, the
examples, and the server itself.
"""

from __future__ import annotations

import os
import re
import shlex
from datetime import timedelta
from pathlib import Path
from typing import Final, cast

import pytest
import typer
import yaml
from typer.main import get_command

from redisched.app.loading import load_app
from redisched.cli.main import app as command_line
from redisched.core.config import SHUTDOWN_GRACE
from redisched.core.durations import to_ms
from redisched.store.address import Address
from tests.conftest import ServerFactory

ROOT: Final = Path(__file__).parent.parent
Service = dict[str, object]


@pytest.fixture(scope="module")
def services() -> dict[str, Service]:
    loaded = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    return cast("dict[str, Service]", loaded["services"])


def words(service: Service) -> list[str]:
    command = service["command"]
    assert isinstance(command, str)
    return shlex.split(command)


def parsed(arguments: list[str]) -> tuple[str, dict[str, object]]:
    """The command of ours that `arguments` name, and its parameters; raises where they do not parse."""
    group = get_command(command_line)
    assert isinstance(group, typer.core.TyperGroup)
    context = group.make_context("redisched", list(arguments))
    name, command, rest = group.resolve_command(context, [*context._protected_args, *context.args])
    assert command is not None
    assert name is not None
    return name, command.make_context(name, rest, parent=context).params


def redis_config(services: dict[str, Service]) -> list[str]:
    """Its command's options as lines of a configuration file."""
    name, *options = words(services["redis"])
    assert name == "redis-server"
    return [
        f'{key.removeprefix("--")} "{value}"' for key, value in zip(options[::2], options[1::2], strict=True)
    ]


def test_it_starts_redis_two_workers_and_an_application(services: dict[str, Service]) -> None:
    assert set(services) == {"redis", "worker", "app"}
    assert services["worker"]["deploy"] == {"replicas": 2}


def test_redis_starts_with_these_options_and_keeps_every_accepted_job(
    services: dict[str, Service], fresh_server: ServerFactory
) -> None:
    """The options, given to a real server: append-only file with fsync always, and no eviction."""
    with fresh_server(config=redis_config(services)).client(decode=True) as client:
        found = client.config_get("appendonly", "appendfsync", "maxmemory-policy", "save", "maxmemory")
    assert found == {
        "appendonly": "yes",
        "appendfsync": "always",
        "maxmemory-policy": "noeviction",
        "save": "",
        "maxmemory": str(256 * 1024 * 1024),
    }


def test_the_file_of_redis_is_on_a_volume(services: dict[str, Service]) -> None:
    declared = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["volumes"]
    assert services["redis"]["volumes"] == ["jobs:/data"]
    assert "jobs" in declared


@pytest.mark.parametrize("name", ["worker", "app"])
def test_nobody_starts_before_redis_is_healthy(services: dict[str, Service], name: str) -> None:
    check = cast("dict[str, list[str]]", services["redis"]["healthcheck"])
    assert "redis-cli ping" in check["test"][1]
    assert services[name]["depends_on"] == {"redis": {"condition": "service_healthy"}}


@pytest.mark.parametrize("name", ["worker", "app"])
def test_everybody_is_told_the_server_by_its_service_name(services: dict[str, Service], name: str) -> None:
    environment = cast("dict[str, str]", services[name]["environment"])
    assert Address.parse(environment["REDISCHED_URL"]).host in services
    assert environment["REDISCHED_NAMESPACE"] == "shop"


def test_the_workers_command_is_one_of_ours_and_its_application_is_there(
    services: dict[str, Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, *arguments = words(services["worker"])
    assert program == "redisched"
    name, parameters = parsed(arguments)
    assert name == "worker"
    monkeypatch.syspath_prepend(str(ROOT / str(parameters["app_dir"])))
    assert load_app(str(parameters["app"])).tasks


def test_the_applications_command_is_an_example(services: dict[str, Service]) -> None:
    program, script = words(services["app"])
    assert program == "python"
    assert (ROOT / script).is_file()


def test_workers_have_the_time_to_finish_what_runs(services: dict[str, Service]) -> None:
    grace = timedelta(milliseconds=to_ms(str(services["worker"]["stop_grace_period"]), field="grace"))
    assert grace > SHUTDOWN_GRACE


def test_the_image_holds_what_the_containers_run() -> None:
    """Every path that the Dockerfile copies exists and is not left out of the build."""
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    paths = " ".join(copied).split()
    let_in = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {"redisched", "examples"} <= set(paths)
    assert [path for path in paths if not os.path.lexists(ROOT / path) or f"!{path}" not in let_in] == []

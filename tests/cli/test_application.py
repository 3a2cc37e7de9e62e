"""F78: an application that cannot be loaded is told apart from one that fails inside."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.command_line import CONSOLE_SCRIPT, MODULE, CommandLine
from tests.ops.yard import Yard

WAYS = pytest.mark.parametrize("way", [CONSOLE_SCRIPT, MODULE], ids=["console script", "python -m"])

JOBS = """
    import os
    from redisched import Scheduler, current_job

    client = Scheduler()
    number = 1

    @client.task(name="shop.note")
    def note(text):
        print(text, current_job().id, os.getpid(), flush=True)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project folder: the package `shop`, and the same laid out under `src` as `store`."""
    write(tmp_path / "shop" / "jobs.py", JOBS)
    write(tmp_path / "src" / "store" / "jobs.py", JOBS)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "__init__.py").touch()
    path.write_text(dedent(text))


def started(cli: CommandLine, way: tuple[str, ...]) -> CommandLine:
    return CommandLine(cli.folder, cli.env, way)


@WAYS
def test_f78_an_application_in_the_current_folder_is_found(
    cli: CommandLine, yard: Yard, project: Path, way: tuple[str, ...]
) -> None:
    """F78: `redisched worker --app shop.jobs:client` from the project folder runs its jobs."""
    yard.app.enqueue("shop.note", "hello")

    ran = started(cli, way)("worker", "--app", "shop.jobs:client", "--burst")

    assert ran.line.startswith("hello default:")


def test_f78_an_application_in_a_src_layout_is_found_by_an_option(
    cli: CommandLine, yard: Yard, project: Path
) -> None:
    """F78: the folder is named, since guessing one would import what nobody meant; children find it, too."""
    yard.app.enqueue("shop.note", "hello")
    told = ["worker", "--app", "store.jobs:client", "--burst"]

    missing = cli(*told, code=2).error
    assert "app='store.jobs:client'" in missing
    assert "--app-dir" in missing
    assert cli(*told, "--app-dir", "src", "--processes", "2").line.startswith("hello default:")


@pytest.mark.parametrize(
    ("app", "says"),
    [
        ("shop.jobs:clinet", "clinet in shop.jobs is nothing"),
        ("shop.jobs:number", "number in shop.jobs is a int"),
        ("shop.jbos:client", "there is no module shop.jbos"),
        ("shpo.jobs:client", "there is no module shpo"),
    ],
)
def test_f78_what_is_not_there_is_one_line_that_names_it(
    cli: CommandLine, yard: Yard, project: Path, app: str, says: str
) -> None:
    """F78: a missing attribute, a typo in a name: exit code 2, and nothing registered in Redis."""
    ran = cli("worker", "--app", app, code=2)

    assert f"app='{app}'" in ran.error
    assert says in ran.error
    assert yard.redis.dbsize() == 0


@pytest.mark.parametrize(
    ("way", "text", "error"),
    [
        (CONSOLE_SCRIPT, "import nonesuch.thing", "ModuleNotFoundError: No module named 'nonesuch'"),
        (MODULE, "from shop import nothing", "ImportError: cannot import name 'nothing'"),
        (CONSOLE_SCRIPT, "from redisched import Cron\nCron('99 * * * *')", "ScheduleError"),
    ],
    ids=["module", "name", "ours"],
)
def test_f78_an_error_inside_the_application_keeps_its_traceback(
    cli: CommandLine, yard: Yard, project: Path, way: tuple[str, ...], text: str, error: str
) -> None:
    """F78: the real error is shown, with the line of the application that raised it, whatever its class."""
    write(project / "shop" / "broken.py", text)

    ran = started(cli, way)("worker", "--app", "shop.broken:client", code=2)

    assert "Traceback (most recent call last):" in ran.err
    assert str(project / "shop" / "broken.py") in ran.err
    assert error in ran.err
    assert ran.err.splitlines()[-1].startswith("redisched: the application shop.broken:client")
    assert yard.redis.dbsize() == 0

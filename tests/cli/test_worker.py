"""`redisched worker`: what its options mean, what it logs, and which server an application gets."""

from __future__ import annotations

import re
import sys
from datetime import timedelta
from pathlib import Path
from textwrap import dedent

import pytest

from redisched.cli.worker import worker_config
from redisched.core.config import WorkerConfig
from tests.cli.command_line import CommandLine
from tests.conftest import ServerFactory
from tests.ops.yard import Yard

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [A-Z]+ redisched[\w.]*: \S.*")

APP = """
    import logging
    from redisched import Scheduler

    app = Scheduler()
    LOG = logging.getLogger("redisched.shop")

    @app.task(name="shop.log")
    def log(text):
        LOG.info("told %s", text)

    @app.task(name="shop.fail")
    def fail(text):
        raise RuntimeError(text)
"""

HOSTILE = (
    "日本語 \N{PILE OF POO} \u202eevil\nredisched: 2030-01-01T00:00:00.000Z INFO forged\r\x00\x1b[2J \ud800"
)


@pytest.fixture
def shop(cli: CommandLine) -> CommandLine:
    """The console script in a folder with an application."""
    (cli.folder / "shop.py").write_text(dedent(APP))
    return cli


def test_options_that_are_not_given_leave_the_defaults() -> None:
    assert worker_config(None, None, None) == WorkerConfig()


def test_durations_are_read_as_everywhere() -> None:
    config = worker_config(3, "1m30s", "5")

    assert (config.concurrency, config.visibility_timeout) == (3, timedelta(seconds=90))
    assert config.shutdown_grace == timedelta(seconds=5)


def test_a_worker_logs_one_line_per_event(shop: CommandLine, yard: Yard) -> None:
    yard.app.enqueue("shop.log", "hello")

    ran = shop("worker", "--app", "shop:app", "--burst", "--name", "night")

    lines = ran.err.splitlines()
    assert all(LINE.fullmatch(line) for line in lines)
    assert any("told hello" in line for line in lines)
    assert any("night" in line and " serves " in line for line in lines)


def test_a_quiet_worker_says_nothing_where_all_is_well(shop: CommandLine, yard: Yard) -> None:
    yard.app.enqueue("shop.log", "hello")

    assert shop("worker", "--app", "shop:app", "--burst", "-q").err == ""


def test_f66_no_text_ends_a_worker_or_forges_a_line_of_its_log(shop: CommandLine, yard: Yard) -> None:
    """F66: hostile text in an argument, an id, an exception, a log line; LANG=C, ASCII output, a pipe."""
    carried = HOSTILE.replace("\ud800", "")
    yard.app.options(job_id=carried).enqueue("shop.log", carried)
    yard.app.enqueue("shop.fail", carried)
    yard.app.enqueue("shop.log", "the last")
    bare_locale = {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}

    ran = shop("worker", "--app", "shop:app", "--burst", "-v", env=bare_locale)

    lines = ran.err.splitlines()
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    assert ran.err.isascii()
    assert any("told the last" in line for line in lines)
    listed = shop("jobs", "list", env=bare_locale)
    assert len(listed.out.splitlines()) == 1 + 3
    assert (listed.out.isascii(), listed.err) == (True, "")


def test_f66_a_log_line_holds_what_could_not_be_encoded(bare: CommandLine) -> None:
    """F66: also lone surrogates, also in a traceback."""
    code = dedent(
        f"""
        import logging
        from redisched.ops.logs import set_up
        set_up()
        try:
            raise RuntimeError({HOSTILE!r})
        except RuntimeError:
            logging.getLogger("redisched.x").exception("caught %s", {HOSTILE!r})
        """
    )
    python = CommandLine(
        bare.folder, {"LANG": "C", "PYTHONIOENCODING": "ascii"}, (sys.executable, "-c", code)
    )

    line = python().error

    assert LINE.fullmatch(line)
    assert "\\nRuntimeError: " in line
    assert "\\ud800" in line


def test_an_application_that_names_its_own_server_wins(
    shop: CommandLine, yard: Yard, fresh_server: ServerFactory
) -> None:
    other = fresh_server()
    path = shop.folder / "shop.py"
    path.write_text(path.read_text().replace("Scheduler()", f"Scheduler({yard.server.url!r})"))
    yard.app.enqueue("shop.log", "hello")

    ran = shop("worker", "--app", "shop:app", "--burst", "--url", other.url)

    assert "told hello" in ran.err
    assert other.client().dbsize() == 0


def test_a_worker_is_told_its_server_behind_the_command(
    shop: CommandLine, yard: Yard, tmp_path: Path
) -> None:
    yard.app.enqueue("shop.log", "hello")
    nowhere = {"REDISCHED_URL": f"unix://{tmp_path}/none.sock"}

    ran = shop("worker", "--app", "shop:app", "--burst", "--url", yard.server.url, env=nowhere)

    assert "told hello" in ran.err

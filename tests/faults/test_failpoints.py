"""Failpoints bite where and as often as they are told, in real processes, and cost nothing when off."""

from __future__ import annotations

import ast
import asyncio
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import redisched.core.failpoints as module
from redisched.core.errors import ConfigurationError
from redisched.core.failpoints import NAMES, VARIABLE, FailpointError, armed, failpoint, failpoint_async
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.processes import Processes

PROGRAM = """
from redisched.core.failpoints import failpoint
for turn in range(3):
    print("before", turn, flush=True)
    failpoint("worker.after_turn")
    print("after", turn, flush=True)
"""
WHOLE = [f"{word} {turn}" for turn in range(3) for word in ("before", "after")]


def start(processes: Processes, spec: str) -> subprocess.Popen[str]:
    """PROGRAM, armed with `spec` through its environment."""
    pipe = subprocess.PIPE
    return processes.python("-c", PROGRAM, env={VARIABLE: spec}, stdout=pipe, stderr=pipe)


def run(processes: Processes, spec: str) -> tuple[int, list[str], str]:
    """The exit code, the lines and the errors of PROGRAM armed with `spec`."""
    process = start(processes, spec)
    out, err = process.communicate(timeout=20)
    return process.returncode, out.splitlines(), err


def test_nothing_happens_when_nothing_is_armed(processes: Processes) -> None:
    assert run(processes, "") == (0, WHOLE, "")
    assert run(processes, "fire.before=kill") == (0, WHOLE, "")


def test_kill_ends_the_process_on_the_spot(processes: Processes) -> None:
    assert run(processes, "worker.after_turn=kill") == (-signal.SIGKILL, ["before 0"], "")


def test_exit_ends_the_process_with_its_code(processes: Processes) -> None:
    assert run(processes, "worker.after_turn=exit:7") == (7, ["before 0"], "")


def test_raise_raises_an_error_that_names_the_failpoint(processes: Processes) -> None:
    code, lines, err = run(processes, "worker.after_turn=raise")
    assert (code, lines) == (1, ["before 0"])
    assert "FailpointError: failpoint worker.after_turn is armed with raise" in err


def test_stop_freezes_the_process_until_it_is_continued(processes: Processes) -> None:
    process = start(processes, "worker.after_turn=stop*1")
    wait_for(lambda: _state(process.pid) == "T", what="the process to be stopped")
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out.splitlines()) == (0, WHOLE)


def test_stop_freezes_a_thread_before_its_next_step(processes: Processes) -> None:
    """What the frozen process did last is what stands before the failpoint, in whichever thread it is."""
    program = f"import threading\ndef work():\n{_indented(PROGRAM)}\nthreading.Thread(target=work).start()"
    process = processes.python(
        "-c", program, env={VARIABLE: "worker.after_turn=stop*1"}, stdout=subprocess.PIPE
    )
    wait_for(lambda: _state(process.pid) == "T", what="the process to be stopped")
    process.kill()
    assert process.communicate(timeout=20)[0] == "before 0\n"


def test_sleep_waits(processes: Processes) -> None:
    began = time.monotonic()
    assert run(processes, "worker.after_turn=sleep:100*2") == (0, WHOLE, "")
    assert time.monotonic() - began >= 0.2


def test_touch_leaves_a_line_for_each_bite(processes: Processes, tmp_path: Path) -> None:
    path = tmp_path / "bitten"
    process = start(processes, f"worker.after_turn=touch:{path}*2")
    process.communicate(timeout=20)
    assert path.read_text() == f"worker.after_turn {process.pid}\n" * 2


def test_actions_on_one_name_follow_one_another(processes: Processes, tmp_path: Path) -> None:
    path = tmp_path / "bitten"
    code, lines, _ = run(processes, f"worker.after_turn=touch:{path}; worker.after_turn=kill")
    assert (code, lines) == (-signal.SIGKILL, ["before 0"])
    assert path.read_text().startswith("worker.after_turn ")


def test_a_test_can_arm_its_own_process_for_a_while() -> None:
    with armed("worker.before_run=raise*2") as bites:
        for _ in range(2):
            with pytest.raises(FailpointError):
                failpoint("worker.before_run")
        failpoint("worker.before_run")
        assert bites == {"worker.before_run": 2}
        with armed("worker.before_run=raise"), pytest.raises(FailpointError):
            failpoint("worker.before_run")
        failpoint("worker.before_run")
    failpoint("worker.before_run")


async def _sleep_beside_a_ticker() -> int:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.001)

    ticker = asyncio.create_task(tick())
    await failpoint_async("worker.before_run")
    ticker.cancel()
    return ticks


def test_the_async_sleep_lets_the_event_loop_run() -> None:
    with armed("worker.before_run=sleep:100"):
        assert asyncio.run(_sleep_beside_a_ticker()) > 3


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("worker.after_trun=kill", "'worker.after_trun' is unknown; the failpoints are child.after_run, "),
        ("worker.after_turn=explode", "'explode' is none of the actions kill, stop, exit"),
        ("worker.after_turn", "is not name=action"),
        ("worker.after_turn=kill*0", "is not name=action"),
        ("worker.after_turn=kill:9", "kill takes no argument"),
        ("worker.after_turn=sleep", "sleep needs a whole number"),
        ("worker.after_turn=touch", "touch needs a path"),
    ],
)
def test_a_specification_that_cannot_be_obeyed_is_refused(spec: str, says: str) -> None:
    with pytest.raises(ConfigurationError) as refused, armed(spec):
        pass
    assert says in str(refused.value)
    assert refused.value.field == VARIABLE


def test_an_unknown_name_in_the_environment_is_an_error(processes: Processes) -> None:
    code, lines, err = run(processes, "worker.after_lunch=kill")
    assert (code, lines) == (1, ["before 0"])
    assert all(name in err for name in NAMES)


def test_every_call_site_uses_a_declared_name() -> None:
    package = Path(module.__file__).parents[1]
    used = {
        argument.value
        for path in package.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(("failpoint", "failpoint_async"))
        for argument in call.args
        if isinstance(argument, ast.Constant)
    }
    assert used <= NAMES


def test_an_unarmed_failpoint_costs_less_than_a_microsecond() -> None:
    failpoint("fire.before")
    rounds = 20_000
    best = min(_seconds(rounds) for _ in range(5))
    assert best / rounds < 1e-6


def _seconds(rounds: int) -> float:
    began = time.perf_counter()
    for _ in range(rounds):
        failpoint("fire.before")
    return time.perf_counter() - began


def _state(pid: int) -> str:
    """The one-letter state of a process, as ps shows it: T is stopped."""
    shown = subprocess.run(
        ["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return shown.stdout.strip()[:1]


def _indented(program: str) -> str:
    return "\n".join(f"    {line}" for line in program.splitlines())

"""The rules of the house, checked as tests, so that the one test command checks them, too."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent.parent
PACKAGE: Final = ROOT / "redisched"
LONGEST_FILE: Final = 400
LONGEST_FUNCTION: Final = 50
SOURCES: Final = sorted(PACKAGE.rglob("*.py"))


def tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_imports_point_inwards_and_only_store_and_embedded_know_redis_py() -> None:
    """The contracts in pyproject.toml; imports for types only count, too."""
    found = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout


def test_the_import_contracts_can_fail(tmp_path: Path) -> None:
    """A core that imports the store breaks the layers: the check is not blind."""
    copy = tmp_path / "redisched"
    for source in SOURCES:
        target = copy / source.relative_to(PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text())
    (copy / "core" / "ids.py").write_text("from redisched.store import keys\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    found = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode != 0
    assert "redisched.core.ids -> redisched.store.keys" in found.stdout


def test_types_are_strict_over_package_and_tests() -> None:
    found = tool("mypy")
    assert found.returncode == 0, found.stdout


def test_the_linter_has_nothing_to_say() -> None:
    found = tool("ruff", "check", "--output-format", "concise", ".")
    assert found.returncode == 0, found.stdout


def test_the_formatter_has_nothing_to_do() -> None:
    found = tool("ruff", "format", "--check", ".")
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_file_and_no_function_is_too_long(source: Path) -> None:
    """Over the mark there is a second idea, which wants a name."""
    text = source.read_text()
    assert text.count("\n") <= LONGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"


def test_importing_the_package_connects_to_nothing_and_starts_nothing() -> None:
    """No thread, no socket and no child process after the import and the construction of a Scheduler."""
    code = (
        "import threading, os, sys\n"
        "before = set(os.listdir('/proc/self/fd')) if os.path.isdir('/proc/self/fd') else set()\n"
        "import redisched; app = redisched.Scheduler()\n"
        "after = set(os.listdir('/proc/self/fd')) if os.path.isdir('/proc/self/fd') else set()\n"
        "assert threading.active_count() == 1, threading.enumerate()\n"
        "assert after <= before, after - before\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert found.returncode == 0, found.stderr

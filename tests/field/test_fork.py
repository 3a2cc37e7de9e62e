"""F73: processes that fork after the application has used its client."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.apps.forks import forks
from tests.field.census import places, queue_status
from tests.fleet import ROOT, Fleet
from tests.processes import Processes
from tests.servers import Engine, free_port

if TYPE_CHECKING:
    from tests.conftest import ServerFactory


@pytest.mark.parametrize("how", ["os.fork", "fork", "spawn"])
@pytest.mark.parametrize("count", [150, pytest.param(1000, marks=pytest.mark.nightly)])
def test_f73_parent_and_child_both_enqueue_and_all_jobs_exist(
    fleet: Fleet, processes: Processes, how: str, count: int
) -> None:
    """Each process gets its own connections: no reply is swapped, no job is lost, nobody crashes."""
    process = processes.spawn(
        *(sys.executable, "-m", "tests.apps.forks", how, str(count)),
        env=fleet.env(),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert output == ""
    assert places(queue_status(fleet)) == 2 * count + 1
    for label in ("parent", "child"):
        assert all(not fleet.app.job(f"default:{label}-{n}").status().is_end for n in range(0, count, 10))


def test_f73_a_job_may_fork_and_enqueue_on_both_sides(fleet: Fleet) -> None:
    """In a worker with its own connections, threads and event loop; that goes on as if nothing happened."""
    worker = fleet.start(app="tests.apps.forks:app", unknown_task_delay=60)
    job = fleet.app.enqueue(forks, 50)
    assert job.result(timeout=20) == 0
    found = queue_status(fleet)
    assert found.scheduled + found.ready + found.processing == 100, "the jobs of both sides, unknown here"
    assert found.counters.get("refused", 0) == 0
    assert fleet.app.enqueue(forks, 0).result(timeout=20) == 0
    assert worker.end() == 0


def test_f73_the_same_over_tls(
    fresh_server: ServerFactory, engine: Engine, processes: Processes, tmp_path: Path
) -> None:
    """A TLS session of two owners would end in a decryption error at once."""
    if not knows_tls(engine):
        pytest.skip(f"{engine.name} {engine.version} is built without TLS")
    certificate, key = self_signed(tmp_path)
    port = free_port()
    files = (f"tls-cert-file {certificate}", f"tls-key-file {key}", f"tls-ca-cert-file {certificate}")
    server = fresh_server(config=(f"tls-port {port}", "tls-auth-clients no", *files))
    fleet = Fleet(server, processes, tmp_path)
    url = f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={certificate}"
    process = processes.spawn(
        *(sys.executable, "-m", "tests.apps.forks", "os.fork", "100"),
        env=fleet.env(REDISCHED_URL=url),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, "")
    assert places(queue_status(fleet)) == 201
    fleet.close()


def knows_tls(engine: Engine) -> bool:
    """A server that does complains of the missing certificate; another one of the setting."""
    command = [str(engine.binary), "--port", "0", "--tls-port", "1", "--tls-cert-file", "/nonexistent"]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10).stdout
    return "Bad directive" not in said and "connection type tls" not in said


def self_signed(directory: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, which is its own authority, and its key."""
    certificate, key = directory / "cert.pem", directory / "key.pem"
    request = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*request.split(), *files], check=True, capture_output=True)
    return certificate, key

# ruff: noqa: PLC0415 - what a command needs is imported by it, so that --help comes at once
"""`redisched doctor`."""

from __future__ import annotations

from redisched.cli.options import AsJson, Queue
from redisched.cli.rendering import end, print_json, print_table, say
from redisched.cli.target import Target


def doctor(target: Target, queue: Queue = "default", as_json: AsJson = False) -> None:
    """Look whether the server is fit to be trusted with jobs. Changes nothing. Exit 1 where a check fails."""
    from redisched.ops.doctor import examine
    from redisched.ops.findings import failures

    with target.backend() as backend:
        findings = examine(backend.executor().send, backend.namespace, [queue])
        where = backend.describe() if not as_json else ""
    if as_json:
        print_json(findings)
    else:
        say(where)
        print_table(["CHECK", "", "FOUND"], ([one.check, one.level, one.what] for one in findings))
        for one in findings:
            if one.way_out:
                say(f"{one.check}: {one.way_out}")
    end(trouble=bool(failures(findings)))

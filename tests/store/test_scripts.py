"""Scripts are small, documented and linted files; a call that does not match a header never leaves."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from redisched.core.errors import ScriptError
from redisched.store.address import Address
from redisched.store.backoff import Patience
from redisched.store.executor import Executor
from redisched.store.keys import Keyspace
from redisched.store.operation import Operation, call
from redisched.store.scripts import Script, expanded, script, script_names
from tests.servers import TestServer

ROOM = files("redisched") / "lua"
LIBRARY = sorted(item.name for item in (ROOM / "lib").iterdir() if item.name.endswith(".lua"))
KEYS = Keyspace("test", "scripts")

GOOD = """\
#!lua
-- good: does nothing.
--
-- KEYS
--   stats  hash  counters
-- ARGV
--   first   the first
--   second  the second
-- RETURNS
--   1
--
return 1"""


def made(text: str, name: str = "good", **includes: str) -> Script:
    """A script of that text; `includes` are files in lib/."""
    return expanded(name, {f"{name}.lua": text, **{f"lib/{n}.lua": t for n, t in includes.items()}})


# -- what is shipped


def code_lines(text: str) -> int:
    """Lines that are not comments, blank lines among them."""
    return sum(not line.startswith("--") for line in text.splitlines()[1:])


@pytest.mark.parametrize("name", script_names())
def test_a_script_is_short_and_begins_as_it_must(name: str) -> None:
    text = (ROOM / f"{name}.lua").read_text()
    assert re.match(rf"#!lua( flags=(allow-oom|no-writes))?\n-- {name}: ", text)
    assert code_lines(text) <= 60


@pytest.mark.parametrize("name", LIBRARY)
def test_an_include_is_short_and_says_what_it_is(name: str) -> None:
    text = (ROOM / "lib" / name).read_text()
    assert text.startswith(f"-- {name.removesuffix('.lua')}: ")
    assert len(text.splitlines()) <= 45


@pytest.mark.parametrize("name", script_names())
def test_a_header_documents_every_key_and_argument_that_is_used(name: str) -> None:
    """In the expanded text: what an include touches is declared too."""
    found = script(name)
    body = "\n".join(line for line in found.text.splitlines()[2:] if not line.startswith("--"))
    keys = set(re.findall(r"\bK\.(\w+)", body))
    if "K['ready:' .." in body or "K[A.place]" in body:
        keys |= {f"ready:{n}" for n in range(4)}
    if "K[A.place]" in body:
        keys |= {"scheduled", "processing", "ended", "dead", "unclaimed"}
    assert set(re.findall(r"\bK\[(.+?)(?: ..|\])", body)) <= {"A.place", "'ready:'"}
    assert keys == set(found.keys)
    assert set(re.findall(r"\bA\.(\w+)", body)) == set(found.arguments)
    assert bool(found.tail) == ("SLOTS" in body)


def test_every_include_is_used() -> None:
    texts = [item.read_text() for item in ROOM.iterdir() if item.name.endswith(".lua")]
    texts += [(ROOM / "lib" / name).read_text() for name in LIBRARY]
    used = {name for text in texts for name in re.findall(r"--@include lib/(\S+)", text)}
    assert used == set(LIBRARY)


def test_shipped_scripts_read_the_servers_clock_only() -> None:
    """The clock of the tests stays in the tests."""
    for name in script_names():
        body = script(name).text
        assert "'clock'" not in body
        assert ("NOW" in body) <= ("redis.call('TIME')" in body)


@pytest.mark.parametrize("forbidden", ["KEYS", "SCAN", "RANDOMKEY", "FLUSHDB", "SELECT", "EVAL"])
def test_no_script_looks_for_keys(forbidden: str) -> None:
    for name in script_names():
        assert f"call('{forbidden}'" not in script(name).text


def lint(paths: list[Path]) -> Iterator[str]:
    """What luacheck says of `paths`."""
    rules = Path(__file__).parent / "luacheckrc"
    command = ["luacheck", "--config", *map(str, [rules, "--formatter", "plain", "--codes", *paths])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    yield from done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("luacheck") is None, reason="luacheck is not installed")
def test_luacheck_has_nothing_to_say(tmp_path: Path) -> None:
    """Of the expanded texts. What an include defines need not be used in every script, but in some."""
    problems: set[str] = set()
    unused: dict[str, list[set[str]]] = {}
    names = script_names()
    for name in names:
        (tmp_path / f"{name}.lua").write_text(script(name).text)
    said = list(lint([tmp_path / f"{name}.lua" for name in names]))
    for name in names:
        here: dict[str, str] = {}
        for line in said:
            found = re.match(rf".*/{name}\.lua:(\d+):\d+: (.*)", line)
            if found:
                origin = script(name).origins[int(found[1]) - 1]
                place = f"{origin.file}:{origin.line}: {found[2]}"
                if "(W211)" in line and origin.file.startswith("lib/"):
                    here[place] = origin.file
                else:
                    problems.add(place)
        for file in {origin.file for origin in script(name).origins}:
            unused.setdefault(file, []).append({place for place, where in here.items() if where == file})
    problems |= {place for sets in unused.values() for place in set.intersection(*sets)}
    assert sorted(problems) == []


@pytest.mark.skipif(shutil.which("luacheck") is None, reason="luacheck is not installed")
def test_luacheck_would_speak_up(tmp_path: Path) -> None:
    (tmp_path / "bad.lua").write_text("#!lua\nlocal unused = 1\nglobal = 2\nreturn redis.cal('GET')\n")
    said = "\n".join(lint([tmp_path / "bad.lua"]))
    assert all(word in said for word in ("unused", "global", "cal"))


# -- headers


def test_arguments_go_in_the_order_of_the_header() -> None:
    assert made(GOOD).ordered({"second": 2, "first": 1}) == (1, 2)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [({"first": 1}, "second"), ({"first": 1, "second": 2, "third": 3}, "third"), ({}, "first, second")],
)
def test_a_missing_or_unknown_argument_is_refused_before_anything_is_sent(
    given: dict[str, int], wrong: str
) -> None:
    with pytest.raises(ScriptError, match=f"good.lua: arguments do not match the header: {wrong}$"):
        made(GOOD).ordered(given)


def test_a_call_with_a_wrong_argument_makes_no_operation() -> None:
    with pytest.raises(ScriptError, match="arguments do not match the header: pause, paws"):
        call("pause", KEYS, lambda reply: reply, paws=1)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("#!lua\n", "-- no shebang\n", "good.lua:1: the first line must be #!lua"),
        ("-- good: ", "-- other: ", "good.lua:2: the second line must be '-- good: '"),
        ("-- KEYS\n", "-- keys\n", "good.lua: the header lacks KEYS"),
        ("-- RETURNS\n", "", "good.lua: the header lacks RETURNS"),
        ("first   the first", "first the first", "good.lua:7: under ARGV must be a name and what it is"),
        ("stats  hash  counters", "stats", "good.lua:5: under KEYS must be a name and what it is"),
        ("return 1", "--@include lib/none.lua", "lib/none.lua: there is no such script or include"),
    ],
)
def test_a_file_that_is_not_as_it_must_be_is_refused(old: str, new: str, says: str) -> None:
    assert old in GOOD
    with pytest.raises(ScriptError) as refused:
        made(GOOD.replace(old, new, 1))
    assert str(refused.value).startswith(says)


def test_a_script_that_does_not_exist_is_named() -> None:
    with pytest.raises(ScriptError, match="there is no such script or include"):
        script("nothing")


def test_an_include_stands_once_where_it_is_first_named() -> None:
    body = "--@include lib/a.lua\n--@include lib/b.lua\n--@include lib/a.lua\nreturn 1"
    found = made(
        GOOD.replace("return 1", body), a="--@include lib/c.lua\nA1", b="--@include lib/c.lua\nB1", c="C1"
    )
    assert found.text.split("\n")[-5:] == ["--", "C1", "A1", "B1", "return 1"]


def test_includes_that_name_each_other_end() -> None:
    body = GOOD.replace("return 1", "--@include lib/a.lua\nreturn 1")
    found = made(body, a="--@include lib/b.lua\nA1", b="--@include lib/a.lua\nB1")
    assert found.text.endswith("B1\nA1\nreturn 1")


def test_the_keys_of_a_call_follow_from_the_header() -> None:
    operation = call("postpone", KEYS, lambda reply: reply, name="s", by=1)
    assert operation.keys == ("rs:{test:scripts}:schedules", "rs:{test:scripts}:stats")
    assert operation.command()[2:] == (2, *operation.keys, "s", 1)


def test_a_call_that_keeps_its_answer_has_a_key_of_its_own() -> None:
    first, second = (call("pause", KEYS, lambda reply: reply, pause=1) for _ in range(2))
    assert first.keys[:-1] == second.keys[:-1] == ("rs:{test:scripts}:paused", "rs:{test:scripts}:wake")
    assert first.keys[-1] != second.keys[-1]
    assert re.fullmatch(r"rs:\{test:scripts\}:op:[0-9a-f]{16}", first.keys[-1])


# -- on a server


@pytest.fixture
def executor(server: TestServer) -> Iterator[Executor]:
    made_here = Executor(lambda: Address.parse(server.url), patience=Patience(0))
    yield made_here
    made_here.close()


def operation_of(found: Script) -> Operation[object]:
    keys = tuple(KEYS.key(part) for part in found.keys)
    return Operation(found.name, lambda reply: reply, found, keys, ("1", "2"))


def test_the_servers_digest_of_every_script_is_ours(server: TestServer) -> None:
    client = server.client()
    for name in script_names():
        assert client.script_load(script(name).text) == script(name).sha


@pytest.mark.parametrize(
    ("body", "includes", "place"),
    [
        ("local x = nil\nreturn x.y", {}, "good.lua:13"),
        (
            "--@include lib/a.lua\nreturn f()",
            {"a": "-- a: fails.\nlocal function f()\n  return nil + 1\nend"},
            "lib/a.lua:3",
        ),
        (
            "--@include lib/a.lua\nreturn 1",
            {"a": "-- a\n\n--@include lib/b.lua", "b": "\nerror('no')"},
            "lib/b.lua:2",
        ),
        ("--@include lib/a.lua\nreturn redis.call('NO')", {"a": "-- a"}, "good.lua:13"),
        ("--@include lib/a.lua\nreturn redis.call('HGET', K.stats)", {"a": "-- a"}, "good.lua:13"),
        ("--@include lib/a.lua\nreturn 1", {"a": "-- a\n\nlocal 1"}, "lib/a.lua:3"),
    ],
)
def test_an_error_is_told_with_file_and_line(
    executor: Executor, body: str, includes: dict[str, str], place: str
) -> None:
    found = made(GOOD.replace("return 1", body), **includes)
    with pytest.raises(ScriptError) as failed:
        executor.send(operation_of(found))
    assert failed.value.place == place
    assert str(failed.value).startswith(f"{place}: good: ")


def test_a_value_of_the_wrong_type_is_told_with_file_and_line(executor: Executor, server: TestServer) -> None:
    server.client().set(KEYS.key("stats"), "text", px=60_000)
    found = made(GOOD.replace("return 1", "return redis.call('HGETALL', K.stats)"))
    with pytest.raises(ScriptError, match=r"good\.lua:12: .*WRONGTYPE"):
        executor.send(operation_of(found))

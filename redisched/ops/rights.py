"""Whether this user may do all that redisched does on the server, and whether the scripts load there."""

from __future__ import annotations

import re
from typing import Final

from redisched.app.job import Send
from redisched.core.errors import ScriptError, StoreError
from redisched.ops.facts import allowed
from redisched.ops.findings import Finding, fail, ok, warn
from redisched.store.keys import Keyspace
from redisched.store.operations.queues import arities, dry_run, load_script, status, whoami
from redisched.store.scripts import script, script_names

# A command in a script is a text in capitals, and so are LIMIT and COUNT: the server says which are commands.
_CAPITALS: Final = re.compile(r"'([A-Z]{3,})'")
_DIRECT: Final = ("EVAL", "EVALSHA", "BLPOP", "PING", "TIME")
_RIGHTS: Final = "grant it with ACL SETUSER"


def scripts(send: Send, keyspace: Keyspace) -> Finding:
    """Every script loads, under the digest that it is called by, and one that only reads runs."""
    for one in map(script, script_names()):
        try:
            loaded = send(load_script(one))
        except StoreError as error:
            return fail("scripts", f"{one.name}.lua: {error}", f"+script|load; {_RIGHTS}")
        if loaded != one.sha:
            return fail("scripts", f"{one.name}.lua has another digest on the server", "report this as a bug")
    try:
        send(status(keyspace))
    except ScriptError as error:
        # The script ran: it met a key of another kind in this queue, which concerns no other queue.
        way_out = "find out who writes there, and rename or delete the key"
        return warn("scripts", f"queue {keyspace.queue}: {error}", way_out)
    except StoreError as error:
        return fail("scripts", str(error), f"+evalsha +eval, and the commands that scripts call; {_RIGHTS}")
    return ok("scripts", f"{len(script_names())} scripts load, and run")


def commands(send: Send, keyspace: Keyspace) -> Finding:
    """A server refuses within a script what its caller may not do: ask for each command, running none."""
    user = allowed(send, whoami())
    named = {word for name in script_names() for word in _CAPITALS.findall(script(name).text)}
    counts = allowed(send, arities(*sorted(named.union(_DIRECT))))
    if user is None or counts is None:
        what = "whether this user may run every command cannot be told"
        return warn("rights", what, "+acl|whoami, +acl|dryrun and +command|info, or run a job as this user")
    refused = []
    for name, arity in counts.items():
        answer = allowed(send, dry_run(user, name, arity, keyspace.key("stats")))
        if answer is None:
            return warn("rights", f"user {user}: may not ask for its own rights", "+acl|dryrun")
        refused += [] if answer == "OK" else [name]
    if refused:
        names = " ".join(f"+{name.lower()}" for name in refused)
        return fail("rights", f"user {user} may not run {', '.join(refused)}", f"ACL SETUSER {user} {names}")
    return ok("rights", f"user {user} may run all {len(counts)} commands that are needed")

"""Finding the user's application by its path, `package.module:attribute`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from redisched.app.scheduler import Scheduler
from redisched.core.errors import ConfigurationError


def load_app(path: str) -> Scheduler:
    """The Scheduler at `path`; the current folder is importable.

    Raises ConfigurationError naming module and attribute where either is not there. An error inside the
    module comes out as it is, with its traceback.
    """
    module_name, colon, attribute = path.partition(":")
    if not colon or not module_name or not attribute:
        raise ConfigurationError("app", path, "write package.module:attribute, for example shop.jobs:app")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise ConfigurationError(
                "app", path, f"there is no module {error.name} on {here} or the Python path"
            ) from None
        raise
    found: object = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, Scheduler):
        kind = "nothing" if found is None else f"a {type(found).__name__}"
        raise ConfigurationError(
            "app", path, f"{attribute} in {module_name} is {kind}, not a redisched.Scheduler"
        )
    return found

"""All designs of the gauntlet by name."""

import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.misled.design import GROUPS, Design


def _declared() -> Iterator[Design]:
    """The designs of `designs.toml`, whose sections are modules."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    for section, designs in tomllib.loads(text).items():
        module = import_module(f"benchmarks.misled.{section}")
        for name, (function, group, *options) in designs.items():
            arguments: dict[str, Any] = dict(*options)
            limits = {key: arguments.pop(key) for key in ("seeds", "stream") if key in arguments}
            yield Design(name, GROUPS[group], getattr(module, function), arguments, **limits)


DESIGNS = {design.name: design for design in _declared()}

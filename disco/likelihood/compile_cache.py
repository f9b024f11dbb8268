"""The folder of compiled code. Quick to import, so that a page can check whether it exists."""

import hashlib
import os
import sys
from importlib.metadata import version
from pathlib import Path

import llvmlite.binding


def kept_in(sources: Path) -> Path:
    """The folder of compiled code: one per state of the sources, processor, Python and Numba.

    Numba compiles again when a function's own file changes or moves, but not when another file that it uses changes.
    """
    world = sources.resolve(), llvmlite.binding.get_host_cpu_name(), sys.implementation.cache_tag, version("numba")
    digest = hashlib.sha256(" ".join(map(str, world)).encode())
    for path in sorted(sources.glob("*.py")):
        digest.update(path.read_bytes())
    return _cache_root(sources) / f"compiled-{digest.hexdigest()[:12]}"


def _cache_root(sources: Path) -> Path:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen)
    if os.access(sources, os.W_OK):
        return sources / "__pycache__"
    import platformdirs  # needed only for an installed copy that cannot be written

    return Path(platformdirs.user_cache_dir("disco", appauthor=False))


KEPT_IN = kept_in(Path(__file__).parent)

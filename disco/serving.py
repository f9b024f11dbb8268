"""Fitted networks kept on the device between page interactions, for all tabs of this process.

Bounded by bytes: $DISCO_CACHE_BYTES, or a quarter of the device's memory; the longest unused goes first.
"""

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from disco.errors import InputError
from disco.runs import Run
from disco.runs.files import check_regular

if TYPE_CHECKING:
    from torch import Tensor

    from disco.estimator import DISCO

_SHARE = 0.25  # of the device's memory


@dataclass(frozen=True)
class Cached:
    """A run whose networks are loaded."""

    run: str
    name: str
    bytes: int
    device: str


@dataclass(frozen=True)
class DeviceStatus:
    """The device that serves: its kind (cpu or cuda), its name, and its memory in bytes."""

    kind: str
    name: str
    used: int
    total: int


@dataclass
class _Entry:
    model: "DISCO"
    cached: Cached
    stamp: int  # the networks' file, so that a run fitted anew is loaded anew


class _Cache:
    """Models by run folder, oldest use first; every method holds the lock."""

    def __init__(self) -> None:
        self.entries: OrderedDict[Path, _Entry] = OrderedDict()
        self.lock = threading.Lock()
        self.loading: dict[Path, threading.Lock] = {}

    def get(self, path: Path, stamp: int) -> "DISCO | None":
        with self.lock:
            entry = self.entries.get(path)
            if entry is None or entry.stamp != stamp:
                return None
            self.entries.move_to_end(path)
            return entry.model

    def put(self, path: Path, entry: _Entry, limit: int) -> None:
        """Keep a model, and let go of the longest unused until all fit; one too large for all is not kept."""
        with self.lock:
            self.entries.pop(path, None)
            if entry.cached.bytes <= limit:
                self.entries[path] = entry
            while sum(kept.cached.bytes for kept in self.entries.values()) > limit:
                self.entries.popitem(last=False)

    def one_at_a_time(self, path: Path) -> threading.Lock:
        """So that two tabs asking for one run load it once."""
        with self.lock:
            return self.loading.setdefault(path, threading.Lock())

    def list(self) -> list[Cached]:
        with self.lock:
            return [entry.cached for entry in reversed(self.entries.values())]

    def clear(self) -> None:
        with self.lock:
            self.entries.clear()


_cache = _Cache()


def fitted(run: Run) -> "DISCO":
    """The fitted estimator of a run, on the device, with its results; loaded once.

    Raises:
        InputError: the run is not done, or its networks cannot be read.
    """
    networks = run.path / "networks.safetensors"
    try:
        stamp = networks.stat().st_mtime_ns
    except OSError as error:
        raise InputError(f"The run {run.name} has no fitted networks yet.") from error
    with _cache.one_at_a_time(run.path):
        model = _cache.get(run.path, stamp)
        if model is None:
            model, size = _load(run, networks)
            cached = Cached(run.id, run.name, size, str(model.device_))
            _cache.put(run.path, _Entry(model, cached, stamp), cache_limit())
    return model


def cached() -> list[Cached]:
    """The runs whose networks are loaded, the last used first."""
    _forget_deleted()
    return _cache.list()


def clear() -> None:
    """Let go of all loaded networks."""
    _cache.clear()


def cache_limit() -> int:
    """Bytes that loaded networks may take together.

    Raises:
        InputError: $DISCO_CACHE_BYTES is not a whole number.
    """
    chosen = os.environ.get("DISCO_CACHE_BYTES")
    if chosen is None:
        return int(_SHARE * device_status().total)
    try:
        return int(chosen)
    except ValueError as error:
        raise InputError(f"DISCO_CACHE_BYTES must be a whole number of bytes; got {chosen!r}.") from error


def device_status() -> DeviceStatus:
    """The device that fits and serves by default, and how much of its memory is in use by all programs."""
    from disco.estimator import choose_device

    if choose_device("auto").type == "cuda":
        import torch

        free, total = torch.cuda.mem_get_info()
        return DeviceStatus("cuda", torch.cuda.get_device_name(), total - free, total)
    import psutil

    memory = psutil.virtual_memory()
    return DeviceStatus("cpu", _processor(), memory.total - memory.available, memory.total)


def _load(run: Run, networks: Path) -> tuple["DISCO", int]:
    """The estimator of a run from its files, and the bytes of its networks.

    Raises:
        InputError: one of them is damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from disco.estimator import DISCO
    from disco.graph import adjacency
    from disco.runs.parents import read_candidates

    try:
        check_regular(networks)
        tensors = load_file(networks)
        _check_size(tensors, run)
        model = DISCO.restore(run.table(), run.settings, tensors, device="auto")
    except InputError:
        raise
    except (OSError, SafetensorError, KeyError, ValueError, TypeError, RuntimeError, IndexError) as error:
        words = " ".join(str(error).split())[:200]
        raise InputError(
            f"The networks of the run {run.name} cannot be read from {networks} ({words}): fit the table again."
        ) from error
    model.order_, model.ccs_, model.criteria_ = run.order(), run.ccs(), run.criteria()
    model.ocs_, model.edges_ = run.ocs(), run.edges()
    selector = run.settings.selector
    model.candidates_ = None if selector == "ocs" else read_candidates(run, selector)
    model.training_ = run.training()
    model.adjacency_ = adjacency(model.graph()).loc[model.feature_names_in_, model.feature_names_in_]
    return model, sum(tensor.nbytes for tensor in tensors.values())


def _check_size(tensors: dict[str, "Tensor"], run: Run) -> None:
    """Refuse weights that are no finite numbers, or of far fewer networks than the settings would have made.

    Raises:
        ValueError: they are.
    """
    settings = run.settings
    held = sum(tensor.numel() for name, tensor in tensors.items() if name.startswith(("joint.", "projection.")))
    if held < settings.folds * settings.width * (settings.width * (settings.hidden_layers - 1) + 1):
        raise ValueError("they are smaller than the settings say")
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise ValueError(f"{name} holds no finite numbers")


def _forget_deleted() -> None:
    with _cache.lock:
        for path in [path for path in _cache.entries if not path.exists()]:
            del _cache.entries[path]


def _processor() -> str:
    """The name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "CPU"

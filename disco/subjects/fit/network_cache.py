"""Fitted networks cached on the device between page interactions, for all tabs of this process.

Their total limit is $DISCO_CACHE_BYTES, or a quarter of the device's memory; the least recently used are dropped first.
"""

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from disco.errors import InputError
from disco.files import check_regular
from disco.runs import Run, digests

if TYPE_CHECKING:
    from torch import Tensor

    from disco.paper.fitted_networks import Fitted

_SHARE = 0.25  # of the device's memory


@dataclass(frozen=True)
class Cached:
    """A run whose networks are loaded."""

    path: Path
    name: str
    bytes: int
    device: str


@dataclass(frozen=True)
class DeviceStatus:
    """The serving device: its kind (cpu or cuda), name, and memory in bytes."""

    kind: str
    name: str
    used: int
    total: int


@dataclass
class _Entry:
    fitted: "Fitted"
    cached: Cached
    stamp: int  # when the file of networks last changed, so that a refitted run is reloaded


class _Cache:
    """Fitted networks by run folder, least recently used first; every method holds the lock."""

    def __init__(self) -> None:
        self.entries: OrderedDict[Path, _Entry] = OrderedDict()
        self.lock = threading.Lock()
        self.loading: dict[Path, threading.Lock] = {}

    def get(self, path: Path, stamp: int) -> "Fitted | None":
        with self.lock:
            entry = self.entries.get(path)
            if entry is None or entry.stamp != stamp:
                return None
            self.entries.move_to_end(path)
            return entry.fitted

    def put(self, path: Path, entry: _Entry, limit: int) -> None:
        """Cache an entry and drop the least recently used until all fit; one above the limit is not cached."""
        with self.lock:
            self.entries.pop(path, None)
            if entry.cached.bytes <= limit:
                self.entries[path] = entry
            while sum(stored.cached.bytes for stored in self.entries.values()) > limit:
                self.entries.popitem(last=False)

    def one_at_a_time(self, path: Path) -> threading.Lock:
        """A lock per run, so that two tabs with the same run load it once."""
        with self.lock:
            return self.loading.setdefault(path, threading.Lock())

    def list(self) -> list[Cached]:
        with self.lock:
            return [entry.cached for entry in reversed(self.entries.values())]

    def clear(self) -> None:
        with self.lock:
            self.entries.clear()


_cache = _Cache()


def fitted(run: Run) -> "Fitted":
    """The fitted networks of a run that is done, on the device; loaded once."""
    networks = run.path / "networks.safetensors"
    try:
        stamp = networks.stat().st_mtime_ns
    except OSError as error:
        raise InputError(f"The run {run.name} has no fitted networks yet.") from error
    with _cache.one_at_a_time(run.path):
        model = _cache.get(run.path, stamp)
        if model is None:
            model, size = _load(run, networks)
            cached = Cached(run.path, run.name, size, model.device.type)
            _cache.put(run.path, _Entry(model, cached, stamp), cache_limit())
    return model


def cached() -> list[Cached]:
    """The runs whose networks are loaded, most recently used first."""
    with _cache.lock:
        for path in [path for path in _cache.entries if not path.exists()]:
            del _cache.entries[path]
    return _cache.list()


def clear() -> None:
    """Drop all loaded networks."""
    _cache.clear()


def cache_limit() -> int:
    """The limit for all loaded networks, in bytes; an `InputError` if $DISCO_CACHE_BYTES is not a whole number."""
    chosen = os.environ.get("DISCO_CACHE_BYTES")
    if chosen is None:
        return int(_SHARE * device_status().total)
    try:
        return int(chosen)
    except ValueError as error:
        raise InputError(f"DISCO_CACHE_BYTES must be a whole number of bytes; got {chosen!r}.") from error


def device_status() -> DeviceStatus:
    """The default device, and its memory in use by all programs."""
    from disco.devices import choose_device

    if choose_device("auto").type == "cuda":
        import torch

        free, total = torch.cuda.mem_get_info()
        return DeviceStatus("cuda", torch.cuda.get_device_name(), total - free, total)
    import psutil

    memory = psutil.virtual_memory()
    return DeviceStatus("cpu", _processor(), memory.total - memory.available, memory.total)


def _load(run: Run, networks: Path) -> tuple["Fitted", int]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from disco.devices import choose_device
    from disco.paper.fitted_networks import Fitted

    try:
        check_regular(networks)
        digests.checked(networks, digests.read(run.path))
        tensors = load_file(networks)
        _check_size(tensors, run)
        device = choose_device("auto")
        model = Fitted.restore(run.table(), run.settings, tensors, device, run.knowledge(), run.adjustment)
    except InputError:
        raise
    except (OSError, SafetensorError, KeyError, ValueError, TypeError, RuntimeError, IndexError) as error:
        words = " ".join(str(error).split())[:200]
        raise InputError(
            f"The networks of the run {run.name} cannot be read from {networks} ({words}): fit the table again."
        ) from error
    return model, sum(tensor.nbytes for tensor in tensors.values()) + model.curvature_bytes


def _check_size(tensors: dict[str, "Tensor"], run: Run) -> None:
    """Refuse, with a ValueError, weights that are not finite, or far fewer than the settings imply."""
    settings = run.settings
    held = sum(tensor.numel() for name, tensor in tensors.items() if name.startswith(("joint.", "projection.")))
    if held < settings.folds * settings.width * (settings.width * (settings.hidden_layers - 1) + 1):
        raise ValueError("they are smaller than the settings imply")
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise ValueError(f"{name} has values that are not finite")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "CPU"

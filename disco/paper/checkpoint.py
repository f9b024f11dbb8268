"""The state of an unfinished fit on disk, so that it can be resumed after a stop, a crash or a reboot.

One safetensors file, replaced atomically: tensors by name, and one JSON text with the rest. Nothing is pickled.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from disco.errors import InputError
from disco.files import check_place, check_regular
from disco.paper.ordering import COMBINATIONS, SinkScores
from disco.paper.training import Training, keep_folds
from disco.progress import Callback, Event

_FORMAT = 1


def save_tensors(path: Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write tensors and a JSON text to one safetensors file, atomically. InputError leaves the previous file."""
    partial = path.with_name(path.name + ".part")
    packed = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    try:
        partial.unlink(missing_ok=True)  # it may not be a regular file
        save_file(packed, partial, metadata={"json": json.dumps(meta)})
        with open(partial, "rb") as file:
            os.fsync(file.fileno())
        os.replace(partial, path)
    except (OSError, SafetensorError) as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        words = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be written ({words}): free some space or give write access.") from error


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and JSON from `save_tensors`, on the CPU. InputError: it is not such a file."""
    try:
        check_regular(path)
        with safe_open(path, framework="pt") as file:
            meta = json.loads(file.metadata()["json"])
            return {name: file.get_tensor(name) for name in file.keys()}, meta  # noqa: SIM118
    except Exception as error:  # the library has no single exception type
        raise InputError(f"{path} cannot be read as saved networks ({error}): delete it to start again.") from error


class Checkpoint:
    """The checkpoint file of one fit. Without a path, nothing is written.

    Args:
        fingerprint: identifies the fit: a digest of table and settings.
        every: seconds between writes.

    Attributes:
        tensors, meta: the state of an earlier attempt, and of finished stages.
        under_way: returns the tensors and values of the current stage; None if there is nothing new to write.

    Raises:
        InputError: the file is damaged, from another fit, or cannot be written.
    """

    def __init__(self, path: Path | None, fingerprint: str, every: float = 15.0) -> None:
        self.path, self.fingerprint, self.every = path, fingerprint, every
        self.tensors: dict[str, Tensor] = {}
        self.meta: dict[str, Any] = {}
        self.under_way: Callable[[], tuple[dict[str, Tensor], dict[str, Any]]] | None = None
        self._written = time.monotonic()
        if path is not None and os.path.lexists(path):
            self.tensors, self.meta = load_tensors(path)
            if self.meta.get("fingerprint") != fingerprint or self.meta.get("format") != _FORMAT:
                raise InputError(
                    f"{path} belongs to another table, other settings or another version: delete it to start again."
                )
        elif path is not None:
            check_place("checkpoint", path)

    def __getstate__(self) -> dict[str, Any]:
        """The state of an earlier attempt, for another process, which has no file."""
        return {**self.__dict__, "path": None, "under_way": None}

    def watching(self, callback: Callback | None) -> Callback:
        """A callback that also writes the current stage, at intervals and before a stop."""

        def report(event: Event) -> bool:
            goes_on = callback is None or callback(event) is not False
            is_due = time.monotonic() - self._written >= self.every
            if self.path is not None and self.under_way is not None and (is_due or not goes_on):
                self.write(*self.under_way())
            return goes_on

        return report

    def keep(self, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        """Add the state of a finished stage to all later writes."""
        self.tensors, self.meta = {**self.tensors, **tensors}, {**self.meta, **meta}

    def write(self, tensors: dict[str, Tensor], meta: dict[str, Any] | None = None) -> None:
        """Replace the file by the stored state and that of the current stage. InputError: it cannot be written."""
        if self.path is not None:
            belongs = {"fingerprint": self.fingerprint, "format": _FORMAT}
            save_tensors(self.path, {**self.tensors, **tensors}, {**self.meta, **(meta or {}), **belongs})
            self._written = time.monotonic()


def pack_training(stage: str, training: Training) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The state of a training stage as named tensors and plain values."""
    tensors = {f"{stage}.best.{name}": value for name, value in training.best.items()}
    for name, parameter in training.network.named_parameters():
        tensors[f"{stage}.now.{name}"] = parameter
        for key, value in training.optimizer.state[parameter].items():
            tensors[f"{stage}.adam.{key}.{name}"] = value
    names = ("active", "best_loss", "best_epoch", "waited", "epoch")
    return tensors, {stage: {name: getattr(training, name) for name in names}}


def unpack_training(stage: str, training: Training, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Restore a newly started stage to the state from `pack_training`. InputError: damaged, or of other networks."""
    try:
        for name, value in meta[stage].items():
            setattr(training, name, type(getattr(training, name))(value))
        for name, best in training.best.items():
            best.copy_(tensors[f"{stage}.best.{name}"])
        keep_folds(training.network, training.active)
        for name, parameter in training.network.named_parameters():
            parameter.data = tensors[f"{stage}.now.{name}"].to(parameter.device)
            _unpack_optimizer(f"{stage}.adam.", name, parameter, training, tensors)
    except (KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        raise InputError(
            f"The checkpoint of the {stage} network is damaged ({error}): delete checkpoint.safetensors to start again."
        ) from error


def _unpack_optimizer(prefix: str, name: str, parameter: Tensor, training: Training, tensors: dict) -> None:
    for key in [key for key in tensors if key.startswith(prefix) and key.endswith("." + name)]:
        state = key.removeprefix(prefix).removesuffix("." + name)
        device = parameter.device if state != "step" or parameter.is_cuda else torch.device("cpu")
        training.optimizer.state[parameter][state] = tensors[key].to(device)


def pack_sinks(sinks: SinkScores) -> dict[str, Tensor]:
    """The scores of the sink removals evaluated so far, as named tensors."""
    tensors = {}
    for number, (remaining, scores) in enumerate(sinks.items()):
        tensors[f"sinks.{number}.remaining"] = torch.tensor(remaining)
        tensors[f"sinks.{number}.scores"] = torch.as_tensor(np.stack([scores[key] for key in COMBINATIONS]))
    return tensors


def unpack_sinks(tensors: dict[str, Tensor]) -> SinkScores:
    """The scores from `pack_sinks`, among other tensors."""
    sinks = {}
    for name, remaining in tensors.items():
        if name.startswith("sinks.") and name.endswith(".remaining"):
            scores = tensors[name.replace("remaining", "scores")].numpy()
            sinks[tuple(remaining.tolist())] = dict(zip(COMBINATIONS, scores, strict=True))
    return sinks

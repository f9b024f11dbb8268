"""A fit's state on disk, so that it can go on after a stop, a crash or a reboot.

One safetensors file, replaced atomically: tensors by name and one JSON text with the rest. Nothing pickled.
"""

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from disco.errors import InputError
from disco.runs.files import check_regular
from disco.training import Training, keep_folds

_FORMAT = 1


def save_tensors(path: Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write tensors and a JSON text to one safetensors file, atomically.

    Raises:
        InputError: the file cannot be written; the one before stays.
    """
    whole = path.with_name(path.name + ".part")
    packed = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    try:
        whole.unlink(missing_ok=True)  # what lies there could be no file at all
        save_file(packed, whole, metadata={"json": json.dumps(meta)})
        with open(whole, "rb") as file:
            os.fsync(file.fileno())
        os.replace(whole, path)
    except (OSError, SafetensorError) as error:
        with contextlib.suppress(OSError):
            whole.unlink(missing_ok=True)
        words = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be written ({words}): free some space or give write access.") from error


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What `save_tensors` wrote, on the CPU.

    Raises:
        InputError: the file is not such a file.
    """
    try:
        check_regular(path)
        with safe_open(path, framework="pt") as file:
            meta = json.loads(file.metadata()["json"])
            return {name: file.get_tensor(name) for name in file.keys()}, meta  # noqa: SIM118
    except Exception as error:  # the library has no exception type of its own
        raise InputError(f"{path} cannot be read as saved networks ({error}): delete it to start anew.") from error


class Checkpoint:
    """The checkpoint file of one fit; with no path nothing is kept.

    Args:
        path: where it is kept.
        fingerprint: what the state belongs to: a digest of table and settings.
        every: seconds between writes.
    """

    def __init__(self, path: Path | None, fingerprint: str, every: float = 15.0) -> None:
        self.path, self.fingerprint, self.every = path, fingerprint, every
        self.tensors: dict[str, Tensor] = {}
        self.meta: dict[str, Any] = {}
        self._written = time.monotonic()
        if path is not None and os.path.lexists(path):
            self.tensors, self.meta = load_tensors(path)
            if self.meta.get("fingerprint") != fingerprint or self.meta.get("format") != _FORMAT:
                raise InputError(
                    f"{path} belongs to another table, other settings or another version: delete it to start anew."
                )

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return self.path is not None and time.monotonic() - self._written >= self.every

    def write(self, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        """Replace the file."""
        if self.path is not None:
            save_tensors(self.path, tensors, {**meta, "fingerprint": self.fingerprint, "format": _FORMAT})
            self._written = time.monotonic()


def pack_training(stage: str, training: Training) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """A stage's state as named tensors and plain values."""
    tensors = {f"{stage}.best.{name}": value for name, value in training.best.items()}
    for name, parameter in training.network.named_parameters():
        tensors[f"{stage}.now.{name}"] = parameter
        for key, value in training.optimizer.state.get(parameter, {}).items():
            tensors[f"{stage}.adam.{key}.{name}"] = value
    kept = ("active", "best_loss", "best_epoch", "waited", "epoch")
    return tensors, {stage: {name: getattr(training, name) for name in kept}}


def unpack_training(stage: str, training: Training, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Put a freshly started stage where `pack_training` found it.

    Raises:
        InputError: the state is of other networks.
    """
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
            f"The checkpoint of the {stage} network is damaged ({error}): delete checkpoint.safetensors to start anew."
        ) from error


def _unpack_optimizer(prefix: str, name: str, parameter: Tensor, training: Training, tensors: dict) -> None:
    """What the optimiser remembers of one parameter."""
    for key in [key for key in tensors if key.startswith(prefix) and key.endswith("." + name)]:
        state = key.removeprefix(prefix).removesuffix("." + name)
        device = parameter.device if state != "step" or parameter.is_cuda else torch.device("cpu")
        training.optimizer.state[parameter][state] = tensors[key].to(device)

"""The device that tensors live on, by name. Torch is imported only where a device is chosen or asked."""

from typing import TYPE_CHECKING

from disco.errors import InputError
from disco.fields import shown

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cpu", "cuda")


def choose_device(name: str = "auto") -> "torch.device":
    """The device of a name; `auto` is CUDA if there is a CUDA device, else the CPU.

    InputError: the name is unknown, or it is cuda and there is no CUDA device.
    """
    import torch

    if not isinstance(name, str) or name not in DEVICES:
        raise InputError(f"device must be auto, cpu or cuda; got {shown(name)}.")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device is cuda, but torch finds no CUDA device here. Use auto or cpu.")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def free_bytes(device: str) -> int:
    """The free memory of a device (cpu or cuda) now, in bytes."""
    if device == "cuda":
        import torch

        return int(torch.cuda.mem_get_info()[0])
    import psutil  # which a fit in a notebook may never need

    return int(psutil.virtual_memory().available)

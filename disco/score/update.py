"""One update of a network: its losses, their gradients, one step of Adam, for all folds in one batch.

An update is hundreds of short operations. A GPU does most of them faster than Python can start them, so there they are
recorded once for each shape of batch, as a CUDA graph, and from then on started together.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from disco.score.adam import Adam
from disco.score.losses import Batch

Loss = Callable[[nn.Module, Batch], Tensor]


class Update:
    """One Adam step for every fold of a network, on its own loss.

    Args:
        network: changed in place.
        optimizer: of its parameters.
        loss: of the network and a batch, (F,).
        norm_bound: the largest norm of a fold's gradient.
    """

    def __init__(self, network: nn.Module, optimizer: Adam, loss: Loss, norm_bound: float) -> None:
        self._network, self._optimizer, self._loss, self._norm_bound = network, optimizer, loss, norm_bound
        self._recorded: dict[tuple[torch.Size, ...], _Recorded | None] = {}
        self._stream: torch.cuda.Stream | None = None  # to record on; libraries keep memory for each stream

    def __call__(self, batch: Batch, rate: float) -> Tensor:
        """Update with a learning rate; returns the losses before it, (F,), until the next call."""
        self._optimizer.rate = rate
        return self._replayed(batch) if batch.noisy.is_cuda else self._made(batch)

    def _made(self, batch: Batch) -> Tensor:
        losses = self._loss(self._network, batch)
        self._network.zero_grad()
        losses.sum().backward()
        clip_gradients(list(self._network.parameters()), self._norm_bound)
        self._optimizer.step()
        return losses.detach()

    def _replayed(self, batch: Batch) -> Tensor:
        """The update by its recording; the first of each shape is made, so that libraries have their memory."""
        shapes = tuple(value.shape for value in batch)
        recorded = self._recorded.get(shapes)
        if recorded is None:
            # A fold that has stopped takes its parameters along: no recording of another number of folds holds.
            self._recorded = {known: one for known, one in self._recorded.items() if known[0][0] == shapes[0][0]}
            self._stream = self._stream or torch.cuda.Stream()
            self._stream.wait_stream(torch.cuda.current_stream())
            if shapes not in self._recorded:
                with torch.cuda.stream(self._stream):
                    losses = self._made(batch)
                torch.cuda.current_stream().wait_stream(self._stream)
                self._recorded[shapes] = None
                return losses
            recorded = self._recorded[shapes] = self._record(batch)
        for kept, value in zip(recorded.batch, batch, strict=True):
            kept.copy_(value)
        recorded.graph.replay()
        return recorded.losses

    def _record(self, batch: Batch) -> "_Recorded":
        """Record an update without making it; other threads may use the GPU meanwhile."""
        graph, own = torch.cuda.CUDAGraph(), type(batch)._make(value.clone() for value in batch)
        self._network.zero_grad()
        with torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"):
            losses = self._made(own)
        return _Recorded(graph, own, losses)


class _Recorded(NamedTuple):
    """An update for batches of one shape.

    Attributes:
        graph: its operations.
        batch: what they read.
        losses: what they write.
    """

    graph: torch.cuda.CUDAGraph
    batch: Batch
    losses: Tensor


def clip_gradients(parameters: Sequence[nn.Parameter], bound: float) -> None:
    """Scale each fold's gradient so that its Euclidean norm over all parameters is at most `bound`."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    squares = sum(torch.linalg.vector_norm(gradient, dim=(1, 2)).square() for gradient in gradients)
    scale = (bound / (squares.sqrt() + 1e-6)).clamp_max(1.0)[:, None, None]
    for gradient in gradients:
        gradient.mul_(scale)

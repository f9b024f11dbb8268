"""One update of a network: its losses, their gradients, one step of Adam, for all folds in one batch.

An update is hundreds of short operations. A GPU does most of them faster than Python can start them, so there they are
recorded once for each shape of batch, as a CUDA graph, and from then on started together. A batch that does not fit in
a GPU's memory goes through the network in chunks, whose gradients are added.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from disco.paper.adam import Adam
from disco.paper.losses import Batch, divided

Loss = Callable[[nn.Module, Batch, Batch], Tensor]


class Update:
    """One Adam step for every fold of a network, on its own loss; the network changes in place.

    Args:
        loss: of the network, a chunk of a batch and the batch: the chunk's contribution to its losses, (F,).
        norm_bound: the largest norm of a fold's gradient.

    Raises:
        OutOfMemoryError: when called, the memory of the GPU is too small for one row.
    """

    def __init__(self, network: nn.Module, optimizer: Adam, loss: Loss, norm_bound: float) -> None:
        self._network, self._optimizer, self._loss, self._norm_bound = network, optimizer, loss, norm_bound
        self._most: int | None = None  # rows of a chunk, once memory was short
        self._recorded: dict[tuple[torch.Size, ...], _Recorded | None] = {}
        self._stream: torch.cuda.Stream | None = None  # to record on; libraries keep memory for each stream

    def __call__(self, batch: Batch, rate: float) -> Tensor:
        """Update with a learning rate; returns the losses before it, (F,), until the next call."""
        self._optimizer.rate = rate
        return self._replayed(batch) if batch.noisy.is_cuda and self._most is None else self._updated(batch)

    @torch.no_grad()
    def losses(self, batch: Batch) -> Tensor:
        """The losses without an update, (F,)."""
        return self._in_chunks(batch, lambda chunk: self._loss(self._network, chunk, batch))

    def _updated(self, batch: Batch) -> Tensor:
        losses = self._in_chunks(batch, lambda chunk: self._with_gradient(chunk, batch))
        self._move()
        return losses

    def _with_gradient(self, chunk: Batch, batch: Batch) -> Tensor:
        losses = self._loss(self._network, chunk, batch)
        losses.sum().backward()
        return losses.detach()

    def _move(self) -> None:
        clip_gradients(list(self._network.parameters()), self._norm_bound)
        self._optimizer.step()

    def _in_chunks(self, batch: Batch, added: Callable[[Batch], Tensor]) -> Tensor:
        """The sum over the chunks of a batch; a batch that does not fit in memory is begun again in smaller chunks."""
        total = batch.noisy.shape[1]
        while True:
            rows = min(self._most or total, total)
            self._network.zero_grad()  # what did not fit may have left some gradients
            try:
                return torch.stack([added(chunk) for chunk in divided(batch, rows)]).sum(dim=0)
            except torch.OutOfMemoryError:
                if rows == 1:
                    raise
            self._divide((rows + 1) // 2)

    def _divide(self, rows: int) -> None:
        """Use chunks of at most `rows` rows from now on, and no recordings, which take memory of their own."""
        self._most, self._recorded = rows, {}
        torch.cuda.empty_cache()

    def _replayed(self, batch: Batch) -> Tensor:
        """The update by its recording; the first of each shape is executed, so that libraries have their memory."""
        shapes = tuple(value.shape for value in batch)
        recorded = self._recorded.get(shapes)
        if recorded is None:
            # A fold that has stopped takes its parameters along: no recording of another number of folds holds.
            self._recorded = {key: recording for key, recording in self._recorded.items() if key[0][0] == shapes[0][0]}
            self._stream = self._stream or torch.cuda.Stream()
            self._stream.wait_stream(torch.cuda.current_stream())
            if shapes not in self._recorded:
                with torch.cuda.stream(self._stream):
                    losses = self._updated(batch)
                torch.cuda.current_stream().wait_stream(self._stream)
                self._recorded[shapes] = None
                return losses
            recorded = self._recorded[shapes] = self._record(batch)
            if recorded is None:
                self._divide(batch.noisy.shape[1])
                return self._updated(batch)
        for buffer, value in zip(recorded.batch, batch, strict=True):
            buffer.copy_(value)
        recorded.graph.replay()
        return recorded.losses

    def _record(self, batch: Batch) -> "_Recorded | None":
        """Record an update without executing it, or None without memory; other threads may use the GPU meanwhile."""
        self._network.zero_grad()
        try:
            graph, buffers = torch.cuda.CUDAGraph(), type(batch)._make(value.clone() for value in batch)
            with torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"):
                losses = self._with_gradient(buffers, buffers)
                self._move()
            return _Recorded(graph, buffers, losses)
        except torch.OutOfMemoryError:
            return None


class _Recorded(NamedTuple):
    """Recorded operations for batches of one shape, which read `batch` and write `losses`."""

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

"""Adam by the function inside `torch.optim.Adam`: the class also imports the compiler, which takes over a second."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.optim.adam import adam


class Adam:
    """Adam with torch's usual constants (Kingma and Ba, 2015).

    Attributes:
        rate: the learning rate of the next step; on a GPU a tensor, so that a recorded step follows it.
        state: each parameter's state, under torch's names: the moments `exp_avg` and `exp_avg_sq`, with its shape, and
            `step`, the number of steps.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], rate: float = 0.001) -> None:
        parameters = list(parameters)
        self._rate = torch.tensor(rate, device=parameters[0].device) if parameters[0].is_cuda else rate
        self.state: dict[Tensor, dict[str, Tensor]] = {
            parameter: {
                "step": torch.zeros((), device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
            for parameter in parameters
        }

    @property
    def rate(self) -> float | Tensor:
        return self._rate

    @rate.setter
    def rate(self, value: float) -> None:
        if isinstance(self._rate, Tensor):
            self._rate.fill_(value)
        else:
            self._rate = value

    @torch.no_grad()
    def step(self) -> None:
        """Update every parameter with a gradient."""
        moved = [(parameter, parameter.grad) for parameter in self.state if parameter.grad is not None]
        states = [self.state[parameter] for parameter, _ in moved]
        adam(
            [parameter for parameter, _ in moved],
            [gradient for _, gradient in moved],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [state["step"] for state in states],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self._rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

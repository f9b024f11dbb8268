"""Adam without the class of torch."""

import subprocess
import sys

import torch
from torch import nn

from disco.paper.adam import Adam


def test_steps_are_those_of_torchs_class():
    networks = [nn.Linear(3, 2, dtype=torch.float64) for _ in range(2)]
    networks[1].load_state_dict(networks[0].state_dict())
    ours, theirs = Adam(networks[0].parameters()), torch.optim.Adam(networks[1].parameters(), fused=True)
    for step, rate in enumerate((0.1, 0.1, 0.01)):
        ours.rate = theirs.param_groups[0]["lr"] = rate
        for network in networks:
            network.zero_grad()
            loss = network(torch.full((4, 3), 1.0 + step, dtype=torch.float64)).square().sum()
            (loss if step else network.weight.square().sum()).backward()  # the bias has no gradient at first
        ours.step()
        theirs.step()
    for mine, other in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-12, atol=0)
        for name, value in theirs.state[other].items():
            torch.testing.assert_close(ours.state[mine][name], value, rtol=1e-12, atol=0)


def test_the_compiler_is_not_imported():
    code = (
        "import sys; from torch import nn; from disco.paper.adam import Adam; network = nn.Linear(1, 1); "
        "network.weight.sum().backward(); Adam(network.parameters()).step(); print('torch._dynamo' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert told.stdout.strip() == "False"

"""The random streams of a design, one for each thing that is drawn.

What is drawn first is the same whatever else a design asks for: the graph and the coefficients are paired across
families and options, and each node's values come row by row from a stream of its own.
"""

from typing import NamedTuple

import numpy as np


class Streams(NamedTuple):
    """Independent generators, all from one seed."""

    graph: np.random.Generator
    coefficients: np.random.Generator
    nodes: list[np.random.Generator]
    signs: np.random.Generator
    exposure: np.random.Generator
    latent: list[np.random.Generator]
    functions: list[np.random.Generator]  # of nodes, for their Gaussian processes
    causes: list[np.random.Generator]  # of nodes and latent causes, for hidden causes of their own
    calibration: list[np.random.Generator]  # of the exposure, then of nodes and latent causes
    sources: list[np.random.Generator]  # of nodes, for the shape of those without parents
    spreads: np.random.Generator

    @classmethod
    def of(cls, seed: int, nodes: int, latent: int) -> "Streams":
        """The streams of a seed. The order of the calls is part of the result: append, never insert."""
        graph, mechanism = np.random.default_rng(seed).spawn(2)
        coefficients, *values = mechanism.spawn(1 + nodes)
        signs, exposure, latents, functions, causes, calibration = mechanism.spawn(6)
        sources, spreads = mechanism.spawn(2)
        return cls(
            graph,
            coefficients,
            values,
            signs,
            exposure,
            latents.spawn(latent),
            functions.spawn(nodes),
            causes.spawn(nodes + latent),
            calibration.spawn(1 + nodes + latent),
            sources.spawn(nodes),
            spreads,
        )

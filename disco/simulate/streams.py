"""The random streams of a design, one for each kind of draw.

Because the streams are separate, an option of the design changes only what it concerns: graph and coefficients are
paired across families and options, and each node's values are drawn row by row from its own stream.
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
    functions: list[np.random.Generator]  # per node, for its Gaussian process
    causes: list[np.random.Generator]  # per node and latent cause, for its own hidden cause
    calibration: list[np.random.Generator]  # the exposure, then one per node and latent cause
    sources: list[np.random.Generator]  # per node, for its shape if it has no parents
    spreads: np.random.Generator
    surroundings: list[np.random.Generator]  # effects, the rows' values, and those of the calibration

    @classmethod
    def of(cls, seed: int, nodes: int, latent: int) -> "Streams":
        """The streams of a seed. The order of the calls matters: append new ones, never insert."""
        graph, mechanism = np.random.default_rng(seed).spawn(2)
        coefficients, *values = mechanism.spawn(1 + nodes)
        signs, exposure, latents, functions, causes, calibration = mechanism.spawn(6)
        sources, spreads, surroundings = mechanism.spawn(3)
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
            surroundings.spawn(3),
        )

"""Ready-made designs, and whether their directions can be known."""

from typing import Any

from disco.simulate.design import Design


def _pair(family: str, **options: Any) -> Design:
    return Design(graph="chain", nodes=2, family=family, **options)


# Arms that change a node, seem to, or leave it as it is, and arrows that they support; no artefacts.
EXPERIMENT = Design(nodes=8, k=1.5, rows=1000, seed=1, interventions=4, intervention_rows=400)
EXAMPLES = {
    "Affine pair: cannot be known": _pair("discrete-normal"),
    "Affine pair, one spread 5 times the other: cannot be known": _pair("discrete-normal", spread=5),
    "Bimodal source, log link: cannot be known": _pair("poisson-log", sources="bimodal"),
    "Trimodal source, softplus: can be known": _pair("poisson-softplus", sources="trimodal"),
    "Binomial chain, logit link: cannot be known": Design(graph="chain", nodes=5, family="binomial-logit"),
    "Complete binary model: cannot be known": Design(graph="complete", nodes=5, family="ising"),
    "Tree, partly known": Design(
        graph="own",
        edges=(("a", "b"), ("b", "c"), ("c", "d"), ("a", "e")),
        family={"a": "poisson-softplus", "b": "poisson-log", "c": "poisson-softplus"}
        | dict.fromkeys("de", "poisson-log"),
        sources="bimodal",
    ),
    "Heaped sources, 20 nodes: can be known": Design(k=2, sources="heaped"),
    "Zero-inflated sources, 20 nodes: can be known": Design(k=2, sources="zero-inflated"),
    "Unequal spreads, 20 nodes: can be known": Design(spread=5),
    "Unsortable, 20 nodes: can be known": Design(unsortable=True),
    "Three batches, 20 nodes: can be known": Design(batches=3),
    "Experiment, 8 nodes: can be known": EXPERIMENT,
    "Depth, 20 nodes: can be known": Design(depth=0.5),
}

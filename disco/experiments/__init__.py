"""Experiments: what interventions changed, free of any model class, and the rules that follow."""

from disco.experiments.contrasts import contrasts
from disco.experiments.rules import Learnt, learnt

__all__ = ["Learnt", "contrasts", "learnt"]

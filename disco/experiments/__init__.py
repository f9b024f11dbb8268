"""Experiments: what interventions changed, free of any model class, and the rules that follow."""

from disco.experiments.contrasts import MARGIN, contrasts
from disco.experiments.rules import Learnt, learnt

__all__ = ["MARGIN", "Learnt", "contrasts", "learnt"]

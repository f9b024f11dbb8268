"""Experiments: what interventions and contexts changed, free of any model class, and the rules that follow."""

from disco.experiments.arrows import arrows
from disco.experiments.contrasts import contrasts, named
from disco.experiments.remarks import remarks
from disco.experiments.rules import Learnt, learnt, learnt_of

__all__ = ["Learnt", "arrows", "contrasts", "learnt", "learnt_of", "named", "remarks"]

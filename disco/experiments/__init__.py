"""Experiments: what interventions and contexts changed, free of any model class, and the rules that follow."""

from disco.experiments.contrasts import contrasts, named
from disco.experiments.remarks import remarks
from disco.experiments.rules import Learnt, arrows, learnt, learnt_of

"""The likelihood of the paper's own class, semiparametric GLM DAGs: fits, evidence, sampling."""

"""The causal graph: a DAG, any result on a table, and both drawn."""

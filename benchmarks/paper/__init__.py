"""The paper's tables: what is fitted, what is read from it, and the report beside the paper's figures."""

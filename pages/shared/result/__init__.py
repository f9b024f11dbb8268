"""The results of the open run, read once, and what a known truth says of them."""

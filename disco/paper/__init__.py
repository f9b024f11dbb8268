"""The paper's method: ranks, corruption, networks, training, curvature, order, OCS; `method` combines them."""

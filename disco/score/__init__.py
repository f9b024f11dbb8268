"""From ranks to concrete scores, their curvature, and an order."""

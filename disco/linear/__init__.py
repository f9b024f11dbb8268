"""A search over orders under linear models, whose scores follow from the correlations of columns alone."""

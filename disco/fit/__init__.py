"""Networks fitted, and what is read from them."""

"""The battery: real and synthetic tables through the whole engine."""

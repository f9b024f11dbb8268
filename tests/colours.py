"""How readable colours are."""

import numpy as np


def relative_luminance(colour: str) -> float:
    """From 0 for black to 1 for white, of a colour #RRGGBB."""
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """How far two colours #RRGGBB stand apart, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted((relative_luminance(one), relative_luminance(other)))
    return (high + 0.05) / (low + 0.05)

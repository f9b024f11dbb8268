"""The sentences a user can act on, as exceptions."""


class InputError(ValueError):
    """A table, setting or file cannot be used: one sentence saying what, where and what to do."""


class ScoreUnavailable(RuntimeError):
    """A curvature score has no admissible observations; it stops its stage (paper, Curvature Estimation)."""


class FitStopped(RuntimeError):
    """A callback asked a fit to stop; its checkpoint, if it keeps one, can be resumed."""

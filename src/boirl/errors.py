"""Everything that boirl raises or warns about on purpose.

A message names what was found, what was expected and how to fix it. The command line prints
a `BoirlError` as one line and exits with code 2, so messages hold no line breaks.
"""


class BoirlError(Exception):
    """Base class: catch this to catch every error that boirl raises on purpose."""


class InvalidInputError(BoirlError, ValueError):
    """An argument, a parameter vector or a file does not fit what was expected."""


class DemonstrationError(InvalidInputError):
    """A demonstration is empty, not finite or outside the problem; names trajectory and step."""


class CodeNeededError(InvalidInputError):
    """Something cannot be written to, or read from, a file without the code that made it."""


class MissingExtraError(BoirlError, ImportError):
    """A package is not installed that a part of boirl needs; says which command installs it."""


class SolverError(BoirlError, RuntimeError):
    """A policy could not be computed, for instance because the values do not converge."""


class ProcessDiedError(SolverError):
    """A policy could not be computed because a process was killed; it may be tried again."""


class StorageError(BoirlError, RuntimeError):
    """A study or a result could not be read or written."""


class SiteError(BoirlError, RuntimeError):
    """A site of a federation cannot be reached, or refuses to answer."""


class BoirlWarning(UserWarning):
    """Base class of the warnings."""


class SaturationWarning(BoirlWarning):
    """A projection hardly changes over the box of rewards, so the surrogate sees nothing."""

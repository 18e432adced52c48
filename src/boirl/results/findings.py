"""What an answer says of itself: one finding per check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        name: Of the check.
        needs_attention: Whether the answer should not be taken as it is.
        message: One sentence, with numbers and, where there is something to do, what.
        data: The numbers.
    """

    name: str
    needs_attention: bool
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


class Health(tuple[Finding, ...]):
    """Findings of all checks, those that need attention first."""

    def __new__(cls, findings: Iterable[Finding] = ()) -> Health:
        ordered = sorted(findings, key=lambda one: not one.needs_attention)
        return super().__new__(cls, ordered)

    @property
    def attention(self) -> tuple[Finding, ...]:
        """The findings that need attention."""
        return tuple(one for one in self if one.needs_attention)

    @property
    def is_good(self) -> bool:
        """Whether no finding needs attention."""
        return not self.attention

    def named(self, name: str) -> Finding | None:
        """The finding of a check; None where the check does not apply."""
        return next((one for one in self if one.name == name), None)

    def __str__(self) -> str:
        return "\n".join(f"{'!' if one.needs_attention else ' '} {one}" for one in self)

    def __repr__(self) -> str:
        return f"Health({len(self)} findings, {len(self.attention)} need attention)"

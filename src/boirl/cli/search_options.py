"""Settings of a search as options of a command; `boirl.SearchSettings` says what each does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PANEL = "Settings of the search"

Kernel = Annotated[
    str,
    typer.Option(
        rich_help_panel=PANEL,
        help="rho-matern or rho-rbf (on the rho-projection), rbf or matern (on theta).",
    ),
]
Acquisition = Annotated[
    str, typer.Option(rich_help_panel=PANEL, help="resolve, log-ei, two-step or random.")
]
ProjectionName = Annotated[
    str,
    typer.Option(
        rich_help_panel=PANEL,
        help="log-rho, rho (as in the paper's text), or canonical (log-rho that no potential "
        "shaping changes; for known dynamics).",
    ),
]
Initial = Annotated[
    list[str] | None,
    typer.Option(
        rich_help_panel=PANEL,
        help="Where to start: sobol, hard, or a theta such as 1.25,5,0 (may be repeated).",
        show_default="sobol",
    ),
]
NInitial = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=PANEL,
        min=1,
        help="Size of a design given by name.",
        show_default="by the problem",
    ),
]
NDemonstrations = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=PANEL,
        min=1,
        help="Demonstrations in the projection.",
        show_default="40, or 10 where policies are learned",
    ),
]
NRollouts = Annotated[
    int,
    typer.Option(
        rich_help_panel=PANEL, min=1, help="Roll-outs that each of them is compared with."
    ),
]
Rollouts = Annotated[
    str,
    typer.Option(
        rich_help_panel=PANEL, help="Policies that roll-outs come from: auto, uniform or solved."
    ),
]
Scale = Annotated[
    str,
    typer.Option(
        rich_help_panel=PANEL, help="Scale of the NLL in the surrogate: auto, linear or log."
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        rich_help_panel=PANEL,
        help="A fixed parameter that the projection takes for 0 (may be repeated).",
        show_default="none",
    ),
]
Smoothness = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=PANEL, help="nu of the Matern kernel, 1.5 or 2.5.", show_default="1.5"
    ),
]
Linear = Annotated[
    bool | None,
    typer.Option(
        "--linear/--no-linear",
        rich_help_panel=PANEL,
        help="Whether a linear kernel is added.",
        show_default="for kernels on the projection",
    ),
]
Artifacts = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=PANEL,
        help="Folder for policies and likelihoods of evaluations.",
        show_default="beside the storage",
    ),
]

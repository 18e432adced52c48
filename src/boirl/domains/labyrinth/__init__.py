"""Mice in a labyrinth: what do they want of a maze with water in one of its 64 ends?"""

from boirl.datasets import DataSet
from boirl.drawing.views import VIEWS, View
from boirl.lazy import lazy_names
from boirl.problem.catalogue import ProblemEntry
from boirl.report.scenes import SCENES, SceneEntry

LABYRINTH = ProblemEntry(
    "boirl.domains.labyrinth.problem:build_labyrinth",
    "mice in a maze with water in one of 64 ends; 6 parameters",
)
RECORDINGS = DataSet(
    "238 stretches of 500 steps of mice in a labyrinth (Rosenberg and others, 2021)",
    {"labyrinth.npz": "6cf919298d37033c17c80ea3040f7c1b2bb97d2bfea6e692ab8e023fd5e7515d"},
)
VIEWS.register(
    "labyrinth",
    View("boirl.domains.labyrinth.maps:has_map", "boirl.domains.labyrinth.maps:save_maps"),
)
SCENES.register(
    "labyrinth",
    SceneEntry(
        "boirl.domains.labyrinth.maps:has_map", "boirl.domains.labyrinth.scene:LabyrinthScene"
    ),
)

_MODULES = ("made_up", "maps", "maze", "problem", "recordings", "turns")
__getattr__ = lazy_names(__name__, dict.fromkeys(_MODULES, ""))

"""Rust's bus engines: when are they replaced, and by a manager of how much foresight?"""

from boirl.datasets import DataSet
from boirl.drawing.views import VIEWS, View
from boirl.lazy import lazy_names
from boirl.problem.catalogue import ProblemEntry
from boirl.report.scenes import SCENES, SceneEntry

BUS_ENGINES = ProblemEntry(
    "boirl.domains.bus_engines.problem:build_bus_engines",
    "37 buses of Rust (1987), a far-sighted manager; 2 parameters",
)
BUS_ENGINES_MYOPIC = ProblemEntry(
    "boirl.domains.bus_engines.problem:build_bus_engines_myopic",
    "the same buses, a manager who looks at this month alone",
)
BUSES = DataSet(
    "8,260 monthly records of 104 buses of Madison, Wisconsin (Rust, 1987)",
    {"buses.csv": "2550f771cd2c4c76c1b42d247680c7aa31ed08a05deca9311a589223e8822cdf"},
)
VIEWS.register(
    "replacements",
    View(
        "boirl.domains.bus_engines.pictures:has_replacements",
        "boirl.domains.bus_engines.pictures:save_replacements",
    ),
)
SCENES.register(
    "bus-engines",
    SceneEntry(
        "boirl.domains.bus_engines.pictures:has_replacements",
        "boirl.domains.bus_engines.scene:ReplacementScene",
    ),
)

_MODULES = ("made_up", "pictures", "problem", "records", "stories")
__getattr__ = lazy_names(__name__, dict.fromkeys(_MODULES, ""))

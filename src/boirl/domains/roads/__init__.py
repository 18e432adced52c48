"""Road networks: the town of Borlange, generated towns and a user's own city."""

from boirl.datasets import DataSet
from boirl.drawing.views import VIEWS, View
from boirl.lazy import lazy_names
from boirl.problem.catalogue import ProblemEntry
from boirl.report.scenes import SCENES, SceneEntry

ROAD_NETWORK = ProblemEntry(
    "boirl.domains.roads.problem:build_road_network", "a generated town; 3 parameters"
)
BORLANGE_VIRTUAL = ProblemEntry(
    "boirl.domains.roads.problem:build_borlange_virtual",
    "the roads of Borlange, trips of a made-up driver",
)
BORLANGE_REAL = ProblemEntry(
    "boirl.domains.roads.problem:build_borlange_real",
    "the roads of Borlange, 54 trips of people",
)
BORLANGE_RECURSIVE_LOGIT = ProblemEntry(
    "boirl.domains.roads.problem:build_borlange_recursive_logit",
    "the roads of Borlange, 1,832 trips to 466 destinations; 4 parameters",
)
BORLANGE = DataSet(
    "roads and 1,832 recorded trips of the town of Borlange, Sweden",
    {
        "linkIncidence.txt": "edf74e6de66f8227ee55cb024aa1107689e7d894062018eebea034252abc991f",
        "ATTRIBUTEestimatedtime.txt": (
            "8fa6bee68933af81c15c7508dce83514c8648e5a330c7ff4278925c11a2c30d8"
        ),
        "ATTRIBUTEturnangles.txt": (
            "28cbfc175de86a5e69d8acfd090410c04501d3f6ca9f42b72ab0ce3816a364c4"
        ),
        "observationsForEstimBAI.txt": (
            "5b2c774572693a35c7c725c894653ef12483d9dbd408563268952e21fcbc817e"
        ),
    },
)
VIEWS.register(
    "map", View("boirl.domains.roads.maps:has_map", "boirl.domains.roads.maps:save_maps")
)
SCENES.register(
    "roads",
    SceneEntry("boirl.domains.roads.maps:has_map", "boirl.domains.roads.scene:RoadScene"),
)

_MODULES = ("files", "layout", "maps", "network", "problem", "recursive_logit", "town", "trips")
__getattr__ = lazy_names(__name__, dict.fromkeys(_MODULES, ""))

"""What a search asks of projections of demonstrations that stay where they are."""

from boirl.federation import FederatedProblem
from boirl.projections.elsewhere import GrowsElsewhere, ProjectsElsewhere
from boirl.search import SearchSettings


def test_a_federation_builds_its_projection_itself(random_problem):
    whole = random_problem(5001, bellman="logsumexp", count=7)
    federation = FederatedProblem.split(whole, (3, 4))
    assert isinstance(federation, ProjectsElsewhere)
    projection = SearchSettings(seed=0).build_surrogate(federation).projection
    assert isinstance(projection, GrowsElsewhere)

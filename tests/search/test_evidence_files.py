"""Evidence is written whole, each version to a file of its own."""

from boirl.demonstrations import Demonstrations
from boirl.files import read_arrays, without_prefix
from boirl.search.evidence_files import evidence_file, write_evidence


def test_what_is_written_is_read_again(random_problem, tmp_path):
    problem = random_problem(1000)
    for version in (1, 2):
        write_evidence(tmp_path / "folder", version, problem, None)
    arrays = read_arrays(evidence_file(tmp_path / "folder", 2), "evidence")
    read = Demonstrations.from_dict(without_prefix("demonstrations", arrays))
    assert problem.with_demonstrations(read).fingerprint() == problem.fingerprint()
    assert len(list((tmp_path / "folder").iterdir())) == 2

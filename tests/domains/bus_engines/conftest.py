"""Made-up buses, the file that holds them, and the recorded ones where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from boirl.domains.bus_engines.made_up import make_up_buses
from boirl.domains.bus_engines.problem import BusEngineProblem, bus_engine_problem
from boirl.domains.bus_engines.records import BusRecords

RECORDED = Path(__file__).parents[4] / "shared" / "data" / "rust_bus"


@pytest.fixture(scope="session")
def recorded() -> Path:
    """The folder of the records of Rust (1987)."""
    if not (RECORDED / "buses.csv").exists():
        pytest.skip("the records of bus engines are not at hand (../shared/data/rust_bus)")
    return RECORDED


@pytest.fixture(scope="session")
def records() -> BusRecords:
    return make_up_buses(n_buses=15, n_months=80)


@pytest.fixture(scope="session")
def problem(records: BusRecords) -> BusEngineProblem:
    return bus_engine_problem(records)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small `buses.csv`."""
    lines = [
        "group,bus,month,mileage_thousands,bin,replaced",
        "4,1,1,3.5,0,0",
        "4,1,2,7.0,1,0",
        "4,1,3,16.5,3,1",
        "4,1,4,17.5,0,0",
        "3,2,1,1.0,0,0",
        "3,2,2,9.0,1,0",
    ]
    (tmp_path / "buses.csv").write_text("\n".join(lines) + "\n")
    return tmp_path

"""Where evaluations are carried out: here, in processes of this machine, or on a cluster."""

from boirl.execution.choice import make_workers
from boirl.execution.jobs import Job, Outcome
from boirl.execution.workers import Here, Workers

__all__ = ["Here", "Job", "Outcome", "Workers", "make_workers"]

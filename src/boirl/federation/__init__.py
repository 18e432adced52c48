"""Sites that may not share demonstrations share evaluations: only sums travel."""

from boirl.federation.client import HttpSite
from boirl.federation.privacy import Ledger, PrivacyTerms
from boirl.federation.problem import FederatedProblem
from boirl.federation.questions import Site
from boirl.federation.server import SiteServer
from boirl.federation.site import LocalSite

__all__ = [
    "FederatedProblem",
    "HttpSite",
    "Ledger",
    "LocalSite",
    "PrivacyTerms",
    "Site",
    "SiteServer",
]

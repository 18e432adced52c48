"""`boirl site serve` and `boirl federate`: a search over sites that keep their demonstrations."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from boirl.cli.app import app, console, errors, notes
from boirl.cli.loading import Bellman, Data, DemonstrationFile, Name, Quiet, load
from boirl.errors import InvalidInputError

TOKEN_VARIABLE = "BOIRL_SITE_TOKEN"
"""Environment variable with the token of a site, or those of several with commas between: other
users of a machine can read what is on a command line."""

PORT = 8765

sites = typer.Typer(no_args_is_help=True, help="Answer for demonstrations that do not travel.")
app.add_typer(sites, name="site")


@sites.command()
def serve(
    problem: Name,
    demonstrations: DemonstrationFile = None,
    name: Annotated[
        str, typer.Option(help="Name of the site; each has its own.", show_default="the host")
    ] = "",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for any that is free.")] = PORT,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. Nothing is encrypted: rather than opening it to others, "
            "let them in through an SSH tunnel or a proxy with TLS."
        ),
    ] = "127.0.0.1",
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Add noise: epsilon of all answers together, for one trajectory.",
            show_default="exact answers",
        ),
    ] = None,
    delta: Annotated[float, typer.Option(help="Delta that belongs to --epsilon.")] = 1e-6,
    clip: Annotated[
        float | None,
        typer.Option(help="Nats that a trajectory counts for at most; needed with --epsilon."),
    ] = None,
    evaluations: Annotated[
        int, typer.Option(help="Evaluations answered at most, with --epsilon.")
    ] = 40,
    ledger: Annotated[
        Path | None,
        typer.Option(help="File that keeps what was answered; needed with --epsilon."),
    ] = None,
    bellman: Bellman = None,
    data: Data = None,
) -> None:
    """Answer for the demonstrations of one site until Ctrl-C.

    The token that a coordinator needs is that of $BOIRL_SITE_TOKEN, or a new one that is printed.

    Example: boirl site serve gridworld --demonstrations ours.npz --name ours
    """
    import socket

    from boirl.federation import LocalSite, SiteServer

    record = _ledger(epsilon, delta, clip, evaluations, ledger)
    chosen = load(problem, demonstrations, bellman=bellman, data=data)
    given = os.environ.get(TOKEN_VARIABLE)
    token = given or secrets.token_urlsafe(24)
    site = LocalSite(chosen, name or socket.gethostname(), record)
    server = SiteServer(site, token, port, host)
    if host not in ("127.0.0.1", "::1", "localhost"):
        errors.print(
            f"warning: others can reach {host}, and nothing is encrypted, the token included; "
            "expected 127.0.0.1, behind an SSH tunnel or a proxy with TLS",
            style="yellow",
            markup=False,
        )
    facts = site.facts()
    console.print(
        f"site {facts.name!r}: {facts.n_demonstrations} demonstrations of {chosen.name} at "
        f"{server.address}",
        markup=False,
    )
    if record is not None:
        terms, done = record.terms, len(record.answers)
        console.print(
            f"epsilon {terms.epsilon:g} at delta {terms.delta:g}: noise of {terms.sigma:.3g} nats "
            f"on each sum, {done} of {terms.evaluations} evaluations answered before",
            markup=False,
        )
    if not given:
        console.print(f"export {TOKEN_VARIABLE}={token}", markup=False)
    with server:
        # The server works in a thread of its own, so that Ctrl-C reaches this one.
        assert server._thread is not None
        while server._thread.is_alive():
            server._thread.join(0.5)


def _ledger(
    epsilon: float | None, delta: float, clip: float | None, evaluations: int, path: Path | None
) -> Any:
    """The terms of privacy with their record; None where answers are exact."""
    from boirl.federation import Ledger, PrivacyTerms

    if epsilon is None:
        if clip is not None or path is not None:
            raise InvalidInputError("--clip and --ledger belong to --epsilon; give one")
        return None
    if clip is None:
        raise InvalidInputError(
            "--epsilon needs --clip, the nats that a trajectory counts for at most: without it, "
            "what a single one may change has no bound"
        )
    if path is None:
        raise InvalidInputError(
            "--epsilon needs --ledger, a file that keeps what was answered: without it, a restart "
            "would renew the budget"
        )
    return Ledger(PrivacyTerms(epsilon, delta, clip, evaluations), path)


@app.command()
def federate(
    problem: Name,
    site: Annotated[
        list[str],
        typer.Option(help="Address of a site, such as http://127.0.0.1:8765 (repeat it)."),
    ],
    evaluations: Annotated[
        int, typer.Option(min=1, help="Evaluations in all, initial ones included.")
    ] = 40,
    kernel: Annotated[
        str | None,
        typer.Option(
            help="As of `boirl run`; rbf or matern where sites answer with privacy.",
            show_default="rho-matern, or matern with privacy",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seeds every random choice of the search.")] = 0,
    storage: Annotated[
        str | None,
        typer.Option(
            help="Database to keep every evaluation in; running the same command again resumes.",
            show_default="in memory",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="JSON file for thetas and NLLs.", show_default="none")
    ] = None,
    bellman: Bellman = None,
    data: Data = None,
    quiet: Quiet = False,
) -> None:
    """Search for the rewards that explain the demonstrations of all sites; only sums travel.

    The token of the sites is that of $BOIRL_SITE_TOKEN; with commas, one per site.

    Example: boirl federate gridworld --site http://127.0.0.1:8765 --site http://127.0.0.1:8766
    """
    from boirl.federation import FederatedProblem, HttpSite
    from boirl.federation.problem import without_demonstrations
    from boirl.problem import TabularProblem

    tokens = [token for token in os.environ.get(TOKEN_VARIABLE, "").split(",") if token]
    if len(tokens) not in (1, len(site)):
        raise InvalidInputError(
            f"${TOKEN_VARIABLE} holds {len(tokens)} tokens for {len(site)} sites; expected one, or "
            "one per site with commas between"
        )
    chosen = load(problem, None, bellman=bellman, data=data)
    known = without_demonstrations(chosen) if isinstance(chosen, TabularProblem) else chosen
    each = tokens if len(tokens) == len(site) else tokens * len(site)
    with ExitStack() as stack:
        sites = [
            stack.enter_context(HttpSite(address, token))
            for address, token in zip(site, each, strict=True)
        ]
        _search(FederatedProblem(known, sites), evaluations, kernel, seed, storage, out, quiet)


def _search(
    federation: Any,
    evaluations: int,
    kernel: str | None,
    seed: int,
    storage: str | None,
    out: Path | None,
    quiet: bool,
) -> None:
    """Search, print and write the answer."""
    from boirl.files import write_bytes
    from boirl.search import explore

    usual = "matern" if federation.is_private else "rho-matern"
    found = explore(
        federation,
        evaluations,
        seed=seed,
        storage=storage,
        progress=not quiet,
        kernel=kernel or usual,
    )
    if federation.is_private:
        # A table of behaviours would ask the sites for more than sums.
        best = ", ".join(
            f"{name} {value:.4f}"
            for name, value in zip(found.names, found.expected_best, strict=True)
        )
        console.print(f"expected best of {len(found)} evaluations: {best}", markup=False)
    else:
        console.print(str(found), markup=False)
    if out is not None:
        kept = {
            "problem": federation.name,
            "sites": {one.name: one.n_demonstrations for one in federation.facts},
            "names": list(found.names),
            "thetas": found.thetas.tolist(),
            "nll": [one.nll if one.ok else None for one in found.evaluations],
            "nll_se": found.nll_se.tolist(),
        }
        write_bytes(out, (json.dumps(kept, indent=1) + "\n").encode())
        notes.print(f"written: {out}", markup=False)

"""What is damaged, and what is done with it: one class per kind of file."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import boirl
from boirl import baselines
from boirl.baselines.checkpoints import HEADER, load_checkpoint
from boirl.domains.bus_engines.records import read_buses
from boirl.domains.labyrinth.made_up import make_up_recordings
from boirl.domains.labyrinth.recordings import read_recordings
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.trips import Trips
from boirl.federation import Ledger, LocalSite, PrivacyTerms
from boirl.federation.messages import QUESTIONS, answer, decode, draw_message, encode
from boirl.federation.questions import Draw
from boirl.files import read_arrays, write_arrays
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.problem import TabularProblem
from boirl.types import Box
from drills.fuzz.mutations import (
    mutate_database,
    mutated_archive,
    mutated_bytes,
    mutated_facts,
    mutated_text,
    pick,
)

SEED = 7


class Target(ABC):
    """A kind of file: how to make one, how to damage it, and what a user would do with it."""

    name: str
    may_write = False
    """Whether `use` is to write to the files, as a study does."""

    @abstractmethod
    def make(self, folder: Path) -> None:
        """Write whole files to a folder."""

    @abstractmethod
    def damage(self, folder: Path, rng: np.random.Generator) -> None:
        """Damage one of them."""

    @abstractmethod
    def use(self, folder: Path) -> None:
        """Read the files, and go on with what they hold."""

    @cached_property
    def gridworld(self) -> TabularProblem:
        problem: TabularProblem = boirl.load_problem("gridworld")
        return problem


class Archive(Target):
    """A single `.npz` file."""

    facts: str | None = None

    def file(self, folder: Path) -> Path:
        return folder / "kept.npz"

    def damage(self, folder: Path, rng: np.random.Generator) -> None:
        file = self.file(folder)
        file.write_bytes(mutated_archive(rng, file, self.facts))


class DemonstrationFiles(Archive):
    name = "demonstrations"

    def make(self, folder: Path) -> None:
        self.gridworld.demonstrations.save(self.file(folder))

    def use(self, folder: Path) -> None:
        read = boirl.Demonstrations.load(self.file(folder))
        self.gridworld.with_demonstrations(read).nll((1.0, 5.0, 0.0))


class SearchResults(Archive):
    name = "results of searches"
    facts = "facts"

    def make(self, folder: Path) -> None:
        boirl.explore(self.gridworld, evaluations=3, seed=SEED).save(self.file(folder))

    def use(self, folder: Path) -> None:
        found = boirl.load_result(self.file(folder))
        _ = repr(found), found.best, found.policy(found.best_index)


class BaselineResults(SearchResults):
    name = "results of baselines"

    def make(self, folder: Path) -> None:
        baselines.get("maxent").run(self.gridworld, 3, seed=SEED).save(self.file(folder))


class VerifiedAnswers(Archive):
    name = "verified answers"
    facts = "verified"

    def make(self, folder: Path) -> None:
        box = Box(("first", "second"), np.zeros(2), np.ones(2))
        thetas, weights = np.full((9, 2), 0.5), np.full(9, 1 / 9)
        boirl.VerifiedRewards("corridor", box, 3, 1.0, thetas, np.ones(9), weights, 9.0, 0.1).save(
            self.file(folder)
        )

    def use(self, folder: Path) -> None:
        boirl.VerifiedRewards.load(self.file(folder))


class Checkpoints(Archive):
    """Runs of one baseline."""

    facts = HEADER

    def __init__(self, method: str) -> None:
        self.name = f"checkpoints of {method}"
        self.method = baselines.get(method)

    def make(self, folder: Path) -> None:
        self.method.run(self.gridworld, 3, seed=SEED, checkpoint=self.file(folder))
        self.key = json.loads(str(read_arrays(self.file(folder), "a run")[HEADER]))["key"]

    def use(self, folder: Path) -> None:
        load_checkpoint(self.file(folder), self.key, self.gridworld, self.method.unpack)


class NetworkPolicies(Archive):
    """Policies that were learned."""

    name = "policies of networks"
    facts = "network"

    def make(self, folder: Path) -> None:
        rng = np.random.default_rng(SEED)
        policy = NetworkPolicy(
            weights=(rng.normal(size=(3, 4)), rng.normal(size=(4, 2))),
            biases=(np.zeros(4), np.zeros(2)),
            activation="tanh",
            actions=UniformMixture(CensoredGaussian((-1.0,), (1.0,)), 0.1),
        )
        write_arrays(self.file(folder), policy.to_dict())

    def use(self, folder: Path) -> None:
        policy = NetworkPolicy.from_dict(read_arrays(self.file(folder), "a policy"))
        policy.log_prob(np.zeros((1, len(policy.weights[0]))), np.zeros((1, 1)))


class KeptPolicies(Archive):
    """Policies and likelihoods that a study keeps beside its database."""

    name = "policies of studies"
    # SQLite keeps a journal beside a database that is open.
    may_write = True

    def make(self, folder: Path) -> None:
        options: Any = {"kernel": "rbf", "seed": SEED, "storage": f"sqlite:///{folder}/search.db"}
        boirl.explore(self.gridworld, 2, **options)

    def file(self, folder: Path) -> Path:
        return sorted((folder / "search.artifacts").iterdir())[0]

    def use(self, folder: Path) -> None:
        storage = f"sqlite:///{folder}/search.db"
        study = boirl.Study(self.gridworld, kernel="rbf", seed=SEED, storage=storage)
        for evaluation in study.evaluations:
            if evaluation.policies:
                self.gridworld.policy_of(evaluation)


class Labyrinths(Archive):
    name = "recordings of labyrinths"

    def file(self, folder: Path) -> Path:
        return folder / "labyrinth.npz"

    def make(self, folder: Path) -> None:
        made = make_up_recordings(n_stretches=6, n_steps=20)
        nodes = np.arange(made.n_nodes)
        table = np.stack([nodes] * 4, axis=1)
        table[: len(made.children), :2] = made.children
        table[1:, 2] = (nodes[1:] - 1) // 2
        states, following = made.nodes[:, :-1], made.nodes[:, 1:]
        actions = (table[states] == following[..., None]).argmax(axis=-1)
        write_arrays(
            self.file(folder), {"states": states, "actions": actions, "next_states": table}
        )

    def use(self, folder: Path) -> None:
        _ = read_recordings(folder).runs


class TextTables(Target):
    """Text files of rows and columns."""

    separator: str | None = ","

    def damage(self, folder: Path, rng: np.random.Generator) -> None:
        file = pick(rng, sorted(folder.iterdir()))
        if rng.random() < 0.1:
            file.write_bytes(mutated_bytes(rng, file.read_bytes()))
        elif rng.random() < 0.02:
            file.unlink()
        else:
            text = mutated_text(rng, file.read_text(), self.separator)
            file.write_text(text, newline="")


class RoadCsv(TextTables):
    name = "road networks in CSV"

    def make(self, folder: Path) -> None:
        network, trips = _town()
        tables = {
            "links.csv": ["link,time", *(f"{n},{t}" for n, t in enumerate(network.times))],
            "turns.csv": [
                "from,to,angle",
                *(
                    f"{left},{entered},{angle}"
                    for (left, entered), angle in zip(
                        network.turns.tolist(), network.angles, strict=True
                    )
                ),
            ],
            "destinations.csv": [
                "destination,link",
                *(f"{end},{n}" for end, own in network.destinations.items() for n in own),
            ],
            "trips.csv": [
                "trip,destination,position,link",
                *(
                    f"{trip},{end},{position},{link}"
                    for trip, (end, links) in enumerate(
                        zip(trips.destinations, trips.links, strict=True)
                    )
                    for position, link in enumerate(links)
                ),
            ],
        }
        for file, lines in tables.items():
            (folder / file).write_text("\n".join(lines) + "\n")

    def use(self, folder: Path) -> None:
        network, trips = boirl.load_road_network(folder)
        boirl.recursive_logit_problem(network, trips).evaluate((-2.0, -1.0, -1.0, -4.0))


class RoadText(RoadCsv):
    name = "road networks in text"
    separator = None

    def make(self, folder: Path) -> None:
        network, trips = _town()
        n = network.n_links
        ends = {end: n + 1 + place for place, end in enumerate(sorted(network.destinations))}
        turns = [(left + 1, entered + 1) for left, entered in network.turns.tolist()]
        arrivals = [
            (link + 1, ends[end]) for end, own in network.destinations.items() for link in own
        ]
        times = [f"{left} {entered} {network.times[entered - 1]}" for left, entered in turns]
        angles = zip(turns, network.angles, strict=True)
        rows = []
        for trip, (end, links) in enumerate(zip(trips.destinations, trips.links, strict=True), 1):
            path = [ends[int(end)], *(int(link) + 1 for link in links), ends[int(end)]]
            rows += [f"{trip} {position} {link}" for position, link in enumerate(path, 1)]
        tables = {
            "linkIncidence.txt": [f"{left} {entered} 1" for left, entered in turns + arrivals],
            "ATTRIBUTEestimatedtime.txt": [*times, *(f"{a} {b} 0" for a, b in arrivals)],
            "ATTRIBUTEturnangles.txt": [f"{a} {b} {angle}" for (a, b), angle in angles],
            "observationsForEstimBAI.txt": rows,
        }
        for file, lines in tables.items():
            (folder / file).write_text("\n".join(lines) + "\n")


class Buses(TextTables):
    name = "records of buses"

    def make(self, folder: Path) -> None:
        lines = ["group,bus,month,mileage_thousands,bin,replaced"]
        for bus in range(3):
            for month in range(20):
                at = month % 9
                lines.append(f"1,{bus},{month + 1},{5.0 * month},{at},{int(at == 8)}")
        (folder / "buses.csv").write_text("\n".join(lines) + "\n")

    def use(self, folder: Path) -> None:
        records = read_buses(folder)
        _ = records.demonstrations(), records.increments


class Settings(Target):
    """Settings of a search, as JSON."""

    name = "settings"

    def make(self, folder: Path) -> None:
        settings = {
            "kernel": "rho-rbf",
            "projection": "log-rho",
            "acquisition": "resolve",
            "n_demonstrations": 3,
            "n_rollouts": 2,
            "rollouts": "uniform",
            "scale": "auto",
            "drop": [],
            "smoothness": None,
            "linear": None,
            "seed": SEED,
        }
        (folder / "settings.json").write_text(json.dumps(settings))

    def damage(self, folder: Path, rng: np.random.Generator) -> None:
        file = folder / "settings.json"
        file.write_text(json.dumps(mutated_facts(rng, json.loads(file.read_text()))))

    def use(self, folder: Path) -> None:
        given = json.loads((folder / "settings.json").read_text())
        if isinstance(given, dict):
            boirl.SearchSettings.from_options(given).build_surrogate(self.gridworld)


class Ledgers(Target):
    """What a private site has answered."""

    name = "ledgers of sites"
    terms = PrivacyTerms(1.0, 1e-4, 20.0, 5)

    def make(self, folder: Path) -> None:
        Ledger(self.terms, folder / "ledger.json").noisy_sum((1.0, 2.0), np.ones(3))

    def damage(self, folder: Path, rng: np.random.Generator) -> None:
        file = folder / "ledger.json"
        if rng.random() < 0.4:
            file.write_bytes(mutated_bytes(rng, file.read_bytes()))
        else:
            file.write_text(json.dumps(mutated_facts(rng, json.loads(file.read_text()))))

    def use(self, folder: Path) -> None:
        Ledger(self.terms, folder / "ledger.json")


class Questions(Target):
    """What is sent to a site."""

    name = "questions to sites"

    @cached_property
    def site(self) -> LocalSite:
        return LocalSite(self.gridworld, "site")

    def make(self, folder: Path) -> None:
        state = np.random.default_rng(SEED).bit_generator.state
        draw = draw_message(Draw((0, 1), 2, None, state))
        part = {"indices": [0, 1], "draws": [draw], "drop": []}
        shown = self.gridworld.demonstrations.subset([0]).to_dict()
        questions = {
            "facts": {},
            "check": {"reference": {name: rows.tolist() for name, rows in shown.items()}},
            "sums": {"theta": [1.0, 5.0, 0.0]},
            "draw": draw,
            "project": {"part": part, "thetas": [[1.0, 5.0, 0.0]], "slopes": True},
            "behaviour": {"thetas": [[1.0, 5.0, 0.0]]},
        }
        (folder / "questions.json").write_text(json.dumps(questions))

    def damage(self, folder: Path, rng: np.random.Generator) -> None:
        file = folder / "questions.json"
        questions = json.loads(file.read_text())
        name = pick(rng, [*QUESTIONS])
        questions[name] = mutated_facts(rng, questions[name])
        file.write_text(json.dumps({name: questions[name]}))

    def use(self, folder: Path) -> None:
        questions = json.loads((folder / "questions.json").read_text())
        for name, message in questions.items():
            content = decode(json.dumps(message).encode())
            encode(answer(self.site, {}, name, content, self.gridworld.box.dimension))


class Databases(Target):
    """Studies in SQLite."""

    name = "study databases"
    may_write = True

    def make(self, folder: Path) -> None:
        boirl.explore(self.gridworld, 3, **self._options(folder))

    def _options(self, folder: Path) -> Any:
        return {"kernel": "rbf", "seed": SEED, "storage": f"sqlite:///{folder}/search.db"}

    def damage(self, folder: Path, rng: np.random.Generator) -> None:
        mutate_database(rng, folder / "search.db")

    def use(self, folder: Path) -> None:
        study = boirl.Study(self.gridworld, **self._options(folder))
        _ = study.evaluations
        question = study.ask()
        study.tell(question, self.gridworld.evaluate(question.theta))
        _ = repr(study), study.result().best


def _town() -> tuple[RoadNetwork, Trips]:
    """A small town with two trips to its one destination."""
    network = boirl.generate_town(24, SEED)
    (destination,) = network.destinations
    feeders = network.destinations[destination]
    links = tuple(np.array([link]) for link in feeders[:2])
    return network, Trips(np.full(len(links), destination), links)


def targets() -> dict[str, Target]:
    """All kinds of files, by name."""
    methods = ("random", "tpe", "maxent", "birl", "deep-maxent", "airl")
    every: list[Target] = [
        DemonstrationFiles(),
        RoadCsv(),
        RoadText(),
        Buses(),
        Labyrinths(),
        Settings(),
        SearchResults(),
        BaselineResults(),
        VerifiedAnswers(),
        *(Checkpoints(method) for method in methods),
        NetworkPolicies(),
        KeptPolicies(),
        Databases(),
        Ledgers(),
        Questions(),
    ]
    return {one.name: one for one in every}

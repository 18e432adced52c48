"""Files, streams and addresses that once ran code, took all memory or gave passwords away."""

from __future__ import annotations

import http.server
import itertools
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from drills import rig
from drills.fuzz.targets import RoadText

PASSWORD = "s3cret"
COMMAND = "from boirl.cli import main; main()"
MEASURED = """
import resource, sys
try:
    {statement}
except Exception as error:
    print(type(error).__module__, type(error).__name__, flush=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
"""Prints what a statement raises, and the megabytes that the process took."""

EXPANDED_BYTES = 2_400_000_000
MOST_MEGABYTES = 900
"""Importing takes 400 of them, and files of a quarter of a gigabyte are read."""


def command(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `boirl` with some arguments."""
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        env=rig.environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )


def measured(statement: str, folder: Path) -> dict[str, Any]:
    """What a statement raises, and how much memory it takes."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED.format(statement=statement)],
        env=rig.environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    *raised, megabytes = done.stdout.split("\n")[:-1] or [f"ended ({done.returncode})", "-1"]
    return {"raised": "".join(raised) or "nothing", "megabytes": int(megabytes)}


def _is_harmless(found: dict[str, Any]) -> bool:
    refused = found["raised"].startswith(("boirl.errors", "nothing"))
    return refused and 0 < found["megabytes"] < MOST_MEGABYTES


class Crafted:
    """A pickle that makes a file when it is opened."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.file),)


def code_execution(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """A crafted checkpoint of a baseline, and the same as other files: does its code run?"""
    proof = folder / "proof"
    content = pickle.dumps(Crafted(proof))
    (folder / "maxent.run").write_bytes(content)
    baseline = command("run", "gridworld", "--method", "maxent", "--out", str(folder))
    said = [baseline.stderr.strip()[-300:].replace(str(folder), "FOLDER")]
    array = np.empty(1, dtype=object)
    array[0] = Crafted(proof)
    np.savez(folder / "crafted.npz", states=array, actions=array, lengths=array, facts=array)
    (folder / "plain.npz").write_bytes(content)
    for name in ("crafted.npz", "plain.npz"):
        for arguments in (("show",), ("run", "gridworld", "--demonstrations")):
            done = command(*arguments, str(folder / name))
            said.append(done.stderr.strip()[-300:].replace(str(folder), "FOLDER"))
    return {"code_ran": proof.exists(), "said": said, "clean": not proof.exists()}


def memory_corruption(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """Link numbers in a road text file that once ended the interpreter or asked for 15 GiB."""
    found: dict[str, Any] = {}
    statement = "import boirl; boirl.load_road_network('.')"
    for name, column, link in itertools.product(
        ("linkIncidence.txt", "observationsForEstimBAI.txt"),
        (0, -2, -1),
        ("9223372036854775807", "2000000000"),
    ):
        case = folder / f"{name}-{column}-{link}"
        case.mkdir()
        RoadText().make(case)
        lines = (case / name).read_text().splitlines()
        cells = lines[3].split()
        cells[column] = link
        lines[3] = " ".join(cells)
        (case / name).write_text("\n".join(lines) + "\n")
        found[f"{link} in column {column % 3 + 1} of {name}"] = measured(statement, case)
    return {**found, "clean": all(map(_is_harmless, found.values()))}


def passwords(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """Addresses that cannot be used: is the password in what is said?"""
    addresses = [
        f"postgresql://me:{PASSWORD}@127.0.0.1:1/name",
        f"postgresql://me:{PASSWORD}@127.0.0.1:port/name",
        f"postgresql://me:{PASSWORD}@@127.0.0.1:1/name",
        f"nosuch://me:{PASSWORD}@127.0.0.1/name",
        f"postgresql://127.0.0.1:1/name?password={PASSWORD}",
        f"me:{PASSWORD}@127.0.0.1",
    ]
    said = []
    for address in addresses:
        done = command("run", "gridworld", "--storage", address)
        said.append(done.stdout + done.stderr)
    told = sum(PASSWORD in one for one in said)
    said = [one.replace(PASSWORD, "PASSWORD") for one in said]
    return {"messages": len(said), "with_the_password": told, "said": said, "clean": not told}


class _Endless(http.server.BaseHTTPRequestHandler):
    """Answers without an end."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"0" * 2**20)
        except OSError:
            return

    def log_message(self, *given: Any) -> None:
        return None


def unbounded_input(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """An endless stream as a data set, and a small archive that expands to gigabytes."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as cache:
        address = f"http://127.0.0.1:{server.server_port}"
        fetch = f"import os; os.environ['BOIRL_CACHE'] = {cache!r}; import boirl.datasets"
        stream = measured(f"{fetch}; boirl.datasets.fetch('borlange', {address!r})", folder)
    server.shutdown()
    write_bomb(folder / "bomb.npz")
    load = "import boirl; boirl.Demonstrations.load('bomb.npz')"
    archive = measured(load, folder)
    found = {"endless stream": stream, "small archive": archive}
    archive["bytes_of_the_file"] = (folder / "bomb.npz").stat().st_size
    refused = all(one["raised"].startswith("boirl.errors") for one in found.values())
    return {**found, "clean": refused and all(map(_is_harmless, found.values()))}


def write_bomb(path: Path) -> None:
    """An `.npz` file of zeros, small as a file and huge in memory."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % (EXPANDED_BYTES // 8)
    header = header.ljust(117) + b"\n"
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("states.npy", "w", force_zip64=True) as member,
    ):
        member.write(start)
        for _ in range(EXPANDED_BYTES // 2**22):
            member.write(bytes(2**22))

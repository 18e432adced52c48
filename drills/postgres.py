"""The fault drill with two searches on one study in PostgreSQL, which is restarted in the middle.

The server is started for the drill, and installed with apt-get where it is missing. Both searches
use the same four Dask workers. 30 times a worker is killed with SIGKILL, 5 times a search, which is
then started again, and the server is away for some seconds. In the end there must be 200
evaluations, each once and correct, and the best reward must be as good as that of a search that
nobody disturbed. Run with `python -m drills.postgres --out docs/results`.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import boirl
from boirl.errors import BoirlError
from drills import cluster, rig

PASSWORD = "s3cret"


class Server:
    """A PostgreSQL server in a folder of its own, on a port of its own."""

    def __init__(self, folder: Path) -> None:
        self.binaries = find_binaries()
        self.data = folder / "data"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        folder.chmod(0o777)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        access = ("-U", "boirl", "-A", "scram-sha-256", "--pwfile", secret)
        self._run("initdb", "-D", self.data, *access)
        self.start()
        self._run("createdb", "-h", "127.0.0.1", "-p", self.port, "-U", "boirl", "drill")

    @property
    def address(self) -> str:
        return f"postgresql://boirl:{PASSWORD}@127.0.0.1:{self.port}/drill"

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        log = self.data / "log"
        self._run("pg_ctl", "-D", self.data, "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", "fast", "stop")

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.binaries / program), *map(str, arguments)]
        if os.geteuid() == 0:
            # The server refuses to run as root.
            command = ["runuser", "-u", "postgres", "--", *command]
        environment = {**os.environ, "PGPASSWORD": PASSWORD}
        done = subprocess.run(
            command, env=environment, cwd="/", capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"{program} failed: {done.stderr or done.stdout}")


def find_binaries() -> Path:
    """The folder of the programs of PostgreSQL, which are installed where they are missing."""
    for attempt in range(2):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        on_path = shutil.which("initdb")
        if found or on_path:
            return (found[-1] if found else Path(str(on_path)).resolve()).parent
        if attempt == 0:
            subprocess.run(["apt-get", "install", "-y", "postgresql"], check=True)
    raise SystemExit("there is no PostgreSQL here, and apt-get brought none")


def finished(study: Any) -> int:
    try:
        return len(study.trials)
    except BoirlError:
        return 0


def main() -> None:
    parser = rig.arguments(__doc__)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--restarts", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.tiny:
        given.evaluations, given.kills, given.restarts = 12, 2, 1
    total, away = given.evaluations, 2.0 if given.tiny else 10.0
    problem = boirl.load_problem("gridworld")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        server = Server(folder)
        started, address = cluster.start_cluster(folder)
        artifacts = str(folder / "artifacts")
        study = boirl.Study(problem, storage=server.address, seed=0, artifacts=artifacts)

        def restart() -> None:
            server.stop()
            time.sleep(away)
            server.start()

        try:
            began = time.monotonic()
            options = ("--cluster", address, "--sleep", str(cluster.SLEEP))
            start = partial(
                rig.start_search, server.address, total, *options, "--artifacts", artifacts
            )
            plan = cluster.Plan(total, given.kills, given.restarts, given.seed)
            killed = cluster.disturb(plan, address, start, 2, partial(finished, study), restart)
            seconds = time.monotonic() - began
            checked = rig.check_study(problem, study)
        finally:
            cluster.stop_cluster(started)
            server.stop()
        undisturbed = cluster.undisturbed_best(problem, folder, total)
    found = {
        "evaluations": total,
        "searches": 2,
        "workers": cluster.WORKERS,
        "killed": killed,
        "server_restarts": 1,
        "seconds_without_server": away,
        "seconds": seconds,
        "study": checked,
        "undisturbed_best_nll": undisturbed,
        "passed": cluster.is_clean(checked, total, undisturbed),
    }
    rig.write(given.out, "drill_postgres", found)


if __name__ == "__main__":
    main()

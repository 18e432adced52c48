"""Two searches share one study on a PostgreSQL server that is restarted in the middle.

The server is started for the drill, and installed with apt-get where it is missing. Each search has
two worker processes. In the end there must be 200 evaluations, each once and correct, although the
server was away for some seconds, both searches were killed once, and one of them came back from
"another machine". Run with `python -m drills.postgres --out docs/results`.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import boirl
from boirl.errors import BoirlError
from drills import rig

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
    given = parser.parse_args()
    total = 12 if given.tiny else given.evaluations
    problem = boirl.load_problem("gridworld")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        server = Server(folder)
        artifacts = str(folder / "artifacts")
        options = ("--workers", "2", "--sleep", "0.5", "--lease", "10", "--artifacts", artifacts)
        try:
            began = time.monotonic()
            searches = [rig.start_search(server.address, total, *options) for _ in range(2)]
            study = boirl.Study(problem, storage=server.address, seed=0, artifacts=artifacts)
            events = []
            for share in (0.25, 0.5, 0.75):
                while finished(study) < share * total:
                    if any(one.poll() for one in searches):
                        raise SystemExit("a search ended with an error")
                    time.sleep(0.2)
                if share == 0.5:
                    server.stop()
                    time.sleep(2.0 if given.tiny else 10.0)
                    server.start()
                    events.append("the server was stopped, and started again")
                else:
                    chosen = 0 if share == 0.25 else 1
                    rig.kill(searches[chosen])
                    searches[chosen] = rig.start_search(server.address, total, *options)
                    events.append(f"search {chosen} was killed, and started again")
            codes = [one.wait() for one in searches]
            seconds = time.monotonic() - began
            checked = rig.check_study(problem, study)
        finally:
            server.stop()
    found = {
        "evaluations": total,
        "searches": 2,
        "workers_of_each": 2,
        "events": events,
        "exit_codes": codes,
        "seconds": seconds,
        "study": checked,
        "passed": codes == [0, 0]
        and checked["completed"] == checked["different_thetas"] == total
        and not checked["still_running"]
        and checked["largest_error"] < 1e-9,
    }
    rig.write(given.out, "drill_postgres", found)


if __name__ == "__main__":
    main()

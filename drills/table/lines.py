"""The lines of the table: what is drilled, and what came of it at first."""

from __future__ import annotations

BEFORE: dict[str, str] = {
    "4 processes on one SQLite study": "5 of 32 processes died with KeyError",
    "processes that create a new study together": (
        "2 at once: 7 of 20 died; 4 at once: 23 of 40; the message blamed the disk"
    ),
    "one abandoned evaluation, 4 processes": "taken by 3 or 4 of them in 7 of 10 drills",
    "containers with one hostname": "a process lost in 4 of 5 drills",
    "host changed after a kill": "the evaluation stayed RUNNING for ever",
    "an evaluation that raises": "ended the run, and the next run took up the same theta: 5 of 5",
    "a worker that is killed": "there were no workers",
    "all training processes killed": "the theta counted as bad (worst NLL, never tried again)",
    "a worker that hangs": "waited for without limit",
    "SIGTERM and Ctrl-C, in memory or --out": "SIGTERM: everything lost, no message",
    "PostgreSQL server restarted": "run aborted, 5 of 5",
    "code execution": "a crafted maxent.run was unpickled, and its code ran",
    "memory corruption": (
        "9223372036854775807 aborted the interpreter, 2000000000 asked for 15 GiB"
    ),
    "passwords": "printed in full in every message that names the storage",
    "unbounded input": "an endless stream was read to 3.4 GB; an npz of 2 MB expanded to 2.4 GB",
    "an NLL of 1e200, a trial without parameters": "every later ask failed",
    "damaged and locked databases": "one message, which blamed the disk",
    "full disk": "not measured",
    "scheduler that vanishes": "there was no cluster",
    "fuzz: raw exceptions": (
        "demonstrations 454 of 15,000, results 638 of 5,000, road text 48 of 21,500, "
        "databases 31 of 250, road CSV 0 of 21,500"
    ),
    "ask at 100, 500, 1,000 and 2,000 evaluations": (
        "1.5, 4, 25 and 163 s with a refit; the final fit at 1,000: 53 s"
    ),
}

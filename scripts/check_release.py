"""Build the wheel and the source distribution, install each in a clean environment, run the demo.

The wheel is then installed with all extras, which must agree with each other, and writes a report.

    python scripts/check_release.py
    python scripts/check_release.py --python python3.12 --out dist

Needs `build` (`pip install build`), and pip to find torch; pass `--torch-index
https://download.pytorch.org/whl/cpu` for builds without CUDA.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from clean_environment import ROOT, CleanEnvironment, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="interpreter to install into")
    parser.add_argument("--torch-index", help="address that torch is installed from")
    parser.add_argument("--out", type=Path, help="folder to keep the two files in")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        # From a copy, so that no file of an earlier build comes along.
        source = folder / "source"
        tracked = ["git", "-C", str(ROOT), "checkout-index", "--all", f"--prefix={source}/"]
        run(tracked)
        run([sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(source)])
        built = sorted((folder / "dist").iterdir())
        endings = {path.suffix for path in built}
        if endings != {".whl", ".gz"}:
            raise SystemExit(
                f"built {[path.name for path in built]}; expected a wheel and an sdist"
            )
        for path in built:
            environment = CleanEnvironment(folder / path.suffix.lstrip("."), given.python)
            constraints = ["--constraint", str(ROOT / "constraints.txt")]
            index = ["--index-url", given.torch_index] if given.torch_index else []
            environment.install(*constraints, *index, "torch")
            environment.install(*constraints, str(path))
            where = folder / f"demo-{path.suffix.lstrip('.')}"
            environment.demo(where)
            environment.refused_report(where)
            if path.suffix == ".whl":
                environment.install(*constraints, f"{path}[all]")
                environment.report(where)
            print(f"ok: {path.name}", flush=True)
        if given.out is not None:
            given.out.mkdir(parents=True, exist_ok=True)
            for path in built:
                shutil.copy(path, given.out)


if __name__ == "__main__":
    main()

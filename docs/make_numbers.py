"""Write the numbers of README and documentation from `docs/results`: `make docs-numbers`.

`--check` changes nothing and fails where a page differs from the result files.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import measured
from measured.blocks import fill

DOCS = Path(__file__).resolve().parent
PAGES = (DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("*/*.md")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    check = parser.parse_args().check
    differing = []
    for page in PAGES:
        old = page.read_text()
        new = fill(old)
        if new != old:
            differing.append(str(page.relative_to(DOCS.parent)))
            if not check:
                page.write_text(new)
    if check and differing:
        raise SystemExit(f"not as in docs/results: {', '.join(differing)}; run make docs-numbers")
    print(f"{len(measured.__all__)} modules; written: {', '.join(differing) or 'nothing'}")


if __name__ == "__main__":
    main()

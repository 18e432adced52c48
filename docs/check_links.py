"""Whether every link of the built site leads somewhere within it: the end of `make docs`.

python docs/check_links.py docs/_build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ELSEWHERE = ("mailto:", "data:", "javascript:")


class Page(HTMLParser):
    """Links of a page, and the places in it that links may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name == "id" and value:
                self.places.add(value)


def check(site: Path) -> tuple[int, list[str]]:
    """How many links within a site there are, and those that lead nowhere."""
    pages = {path.resolve(): Page(path.read_text()) for path in site.rglob("*.html")}
    count, broken = 0, []
    for path, page in pages.items():
        for link in page.links:
            if "://" in link or link.startswith(ELSEWHERE):
                continue
            count += 1
            file, _, place = link.partition("#")
            target = (path.parent / unquote(file.split("?")[0])).resolve() if file else path
            known = pages[target].places if target in pages else {unquote(place)}
            if not target.exists() or (place and unquote(place) not in known):
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return count, broken


def main() -> None:
    count, broken = check(Path(sys.argv[1]))
    if broken or not count:
        raise SystemExit("\n".join(["links that lead nowhere:", *broken]))
    print(f"{count} links within the site lead somewhere")


if __name__ == "__main__":
    main()

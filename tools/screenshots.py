"""Makes the pictures and the page of the explorer that the documentation shows.

    PYTHONPATH=. python tools/screenshots.py [FOLDER]

Writes docs/images/explore.png (the garden path just after it has flipped) and docs/pages/garden-path.html (the same, to step
through). With a FOLDER, the page is also photographed there at three widths, light and dark, to be looked at. Needs chromium.
"""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlencode

import dtg
from tests.explore.browser import READY, running_browser, running_server

DOCS = Path(__file__).parents[1] / "docs"
SENTENCE = "The boy invited to the party laughed ."
PAIR = ("While the man hunted the deer ran into the woods .", "While the man hunted , the deer ran into the woods .")
SIZES = {"projector": (1920, 1080), "laptop": (1280, 800), "phone": (390, 844)}
VIEWS = {
    "garden-path": {"s": SENTENCE, "at": "7"},
    "attention": {"s": SENTENCE, "at": "7", "tab": "attention"},
    "ending": {"s": "The horse fell .", "tab": "ending"},
    "pair": {"s": PAIR[0], "s2": PAIR[1], "at": "8"},
}


def main() -> None:
    """Everything, one after another."""
    models = {name: dtg.load(name) for name in ("dtg-small", "txl-small")}
    models["dtg-small"].explore(SENTENCE).save(DOCS / "pages" / "garden-path.html")
    decoders = {name: model.decoder_model for name, model in models.items()}
    with running_server(decoders) as server, running_browser() as browser:

        def photograph(path: Path, view: dict[str, str], size: tuple[int, int], scheme: str, *, full: bool) -> None:
            width, height = size
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
                device_scale_factor=1.0 if full else 1.5,
            )
            page.goto(f"{server.address}#{urlencode(view)}")
            page.wait_for_selector(READY)
            page.wait_for_selector(".predictions, .matrix, .endings")
            page.wait_for_timeout(300)
            page.screenshot(path=path, full_page=full)
            page.close()
            print(f"made {path}")

        photograph(DOCS / "images" / "explore.png", VIEWS["garden-path"], (1240, 1010), "light", full=False)
        for folder in map(Path, sys.argv[1:2]):
            folder.mkdir(parents=True, exist_ok=True)
            for name, view in VIEWS.items():
                for size, (width, height) in SIZES.items():
                    for scheme in ("light", "dark"):
                        photograph(folder / f"{name}-{size}-{scheme}.png", view, (width, height), scheme, full=True)


if __name__ == "__main__":
    main()

"""How long the explorer takes in a browser: from a key press to the first bar, and for each further word.

    python -m benchmarks.explore [MODEL]

The aim is 300 ms and 60 ms on two cores, at the page's own accuracy.
"""

from __future__ import annotations

import statistics
import sys

import dtg
from tests.explore.browser import running_browser, running_server

SENTENCE = "The horse raced past the barn fell into the old river .".split()
# Types a text and waits, frame by frame, until that many bars are there.
TYPE = """([text, count]) => new Promise((done) => {
  const field = document.getElementById("sentence-0");
  const begin = performance.now();
  field.value = text;
  field.dispatchEvent(new Event("input"));
  const look = () => document.querySelectorAll("#words .bar .value").length === count
    ? done(performance.now() - begin) : requestAnimationFrame(look);
  look();
})"""


def main() -> None:
    """Type a sentence word by word, five times, each time from nothing."""
    model = dtg.load(*sys.argv[1:2])
    first, further = list[float](), list[float]()
    with running_server({model.name: model.decoder_model}) as server, running_browser() as browser:
        for _ in range(5):
            page = browser.new_page()
            page.goto(f"{server.address}#s=")
            page.wait_for_selector("#sentence-0")
            for count in range(1, len(SENTENCE) + 1):
                took = page.evaluate(TYPE, [" ".join(SENTENCE[:count]) + " ", count])
                (first if count == 1 else further).append(took)
            page.close()
    print(f"{model.name}, default accuracy, {len(SENTENCE)} words, five times; median (slowest), milliseconds")
    for name, values in (("first bar", first), ("further words", further)):
        print(f"  {name:14} {statistics.median(values):6.0f}  ({max(values):.0f})")


if __name__ == "__main__":
    main()

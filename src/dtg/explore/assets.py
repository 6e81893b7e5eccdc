"""The page's own files: served one by one, or put together into one HTML file that needs nothing else.

They are plain ES modules, without a build step. In a single file there are no modules to import from, so they are
joined: imports are left out, `export` is taken off, and modules stand after those that they import. Names at the top
of modules must therefore differ; a test looks after that.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "page"
INDEX, STYLE, MAIN = "index.html", "style.css", "main.js"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
IMPORT = re.compile(r"^import\s+(?:\{[^}]*\}\s+from\s+)?\"\./([\w-]+\.js)\";\n", re.MULTILINE)
EXPORT = re.compile(r"^export\s+(?=(?:async\s+)?(?:function|const|class|let)\b)", re.MULTILINE)
DATA_PLACE, HEAD_PLACE = "<!-- data -->", "<!-- head -->"


@cache
def asset(name: str) -> str:
    """The content of a file."""
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def asset_names() -> frozenset[str]:
    """The files that are served."""
    return frozenset(path.name for path in FOLDER.iterdir() if path.suffix in TYPES)


def joined_script() -> str:
    """All modules as one script."""
    done: list[str] = []

    def visit(name: str) -> None:
        if name not in done:
            for imported in IMPORT.findall(asset(name)):
                visit(imported)
            done.append(name)

    visit(MAIN)
    script = "\n".join(EXPORT.sub("", IMPORT.sub("", asset(name))) for name in done)
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE), "an import or export has an unknown form"
    assert "</script" not in script
    return script


def single_page(title: str, data: str) -> str:
    """The page as one file; `data` is JSON."""
    script, style = joined_script(), asset(STYLE)
    policy = (
        f"default-src 'none'; script-src '{content_hash_source(script)}'; style-src '{content_hash_source(style)}';"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>"
    )
    block = data.replace("<", "\\u003c")
    body = f'<script type="application/json" id="saved">{block}</script>\n<script type="module">{script}</script>'
    page = asset(INDEX)
    begin, end = page.index(HEAD_PLACE), page.index("</head>")
    page = page[:begin] + head + "\n" + page[end:]
    begin, end = page.index(DATA_PLACE), page.index("</body>")
    return page[:begin] + body + "\n" + page[end:]


def content_hash_source(text: str) -> str:
    """A text as a content security policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def escaped(text: str) -> str:
    """A text for HTML, inside elements and quoted attributes."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")

"""How the HTML page looks: in light and dark, on phones and in print."""

STYLE = """\
:root {
  color-scheme: light dark;
  --ink: #1a1a1a; --paper: #ffffff; --line: #c8c8c8; --shade: #f3f3f3; --link: #005a9c; --mark: #a03000;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #161616; --line: #4a4a4a; --shade: #242424; --link: #7db8ee; --mark: #ffb080; }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 72rem; padding: 1rem;
  font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
}
h1 { font-size: 1.7rem; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 0.75rem; border-bottom: 1px solid var(--line); }
a { color: var(--link); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; padding: 0; }
.scroll { overflow-x: auto; margin: 1rem 0 0.5rem; }
.scroll:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.4rem; }
th, td { padding: 0.3rem 0.75rem; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--line); }
.number { text-align: right; }
th:first-child { position: sticky; left: 0; background: var(--paper); }
thead th, thead th:first-child { background: var(--shade); border-top: 1px solid var(--line); vertical-align: bottom; }
.mark { color: var(--mark); }
.notes p { margin: 0.2rem 0; font-size: 0.875rem; }
figure { margin: 1.5rem 0; }
figcaption { font-weight: 600; font-size: 0.875rem; }
.picture { background: #ffffff; padding: 0.5rem; }
.picture svg { display: block; min-width: 34rem; width: 100%; max-width: 54rem; height: auto; }
code { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-wrap: anywhere; }
details { margin: 1rem 0; }
summary { cursor: pointer; font-weight: 600; font-size: 0.875rem; }
li { margin: 0.25rem 0; }
@media print {
  nav { display: none; }
  .scroll { overflow: visible; }
  figure, tr { break-inside: avoid; }
}
"""

"""The `dtg` command: functions here parse and print; the library does the work."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is being imported is answered as it is later."""
    try:
        from dtg.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("dtg: interrupted.\n")
        sys.exit(130)
    run()


__all__ = ["main"]

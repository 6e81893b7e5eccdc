"""The `dtg` command: functions here parse and print; the library does the work."""

from dtg.cli.app import main

__all__ = ["main"]

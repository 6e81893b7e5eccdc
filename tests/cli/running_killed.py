"""A script for torchrun: `dtg` with small groups, one of whose processes (VICTIM) kills itself once it has stored one."""

from __future__ import annotations

import os
import signal

from dtg.cli import main
from dtg.search.options import BeamOptions
from dtg.tables.sharing.parts import Part, PartFolder
from dtg.tables.sharing.share import GroupQueue, Share

save, begin = PartFolder.save, GroupQueue.__init__


def saving(self: PartFolder, part: Part) -> None:
    """Die with a group stored, if this is the victim."""
    save(self, part)
    if os.environ["RANK"] == os.environ["VICTIM"]:
        os.kill(os.getpid(), signal.SIGKILL)


def beginning(self: GroupQueue, share: Share) -> None:
    """Let the other process take a group before the first does, so that both have work."""
    if share.processes.is_main:
        share.processes.until(lambda: share.processes.is_told("helping"), 60)
    begin(self, share)
    share.processes.tell("helping", True)


if __name__ == "__main__":
    BeamOptions.sentences_together = 16  # type: ignore[assignment, method-assign]
    PartFolder.save = saving  # type: ignore[method-assign]
    GroupQueue.__init__ = beginning  # type: ignore[method-assign]
    main()

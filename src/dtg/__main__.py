"""`python -m dtg` is `dtg`, for launchers that want a module: `torchrun -m dtg train ...`."""

from dtg.cli import main

if __name__ == "__main__":
    main()

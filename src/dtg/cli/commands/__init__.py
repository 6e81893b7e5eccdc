"""One module per command of `dtg`."""

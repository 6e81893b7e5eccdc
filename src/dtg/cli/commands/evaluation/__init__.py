"""`dtg evaluate`: one module per task."""

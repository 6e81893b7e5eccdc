"""Where results of commands go, and how they are written."""

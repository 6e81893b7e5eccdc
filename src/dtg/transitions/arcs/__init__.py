"""Systems that build dependency trees by arcs, and what they share."""

"""Communities: which entities hang together as one named scope sees them, and what is said of each group."""

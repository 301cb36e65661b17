"""Reports, comparisons and the gate."""

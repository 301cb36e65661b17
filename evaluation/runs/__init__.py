"""Evaluation runs: their conditions, how they are carried out, what they found."""

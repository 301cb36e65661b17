"""Answers graded by a model in two passes that are blind to each other."""

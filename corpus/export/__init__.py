"""Writing a part of the corpus to files that other programs read."""

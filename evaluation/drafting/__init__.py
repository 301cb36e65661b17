"""Questions proposed from the corpus, for experts to sign."""

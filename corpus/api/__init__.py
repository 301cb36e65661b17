"""The REST surface of the corpus, and what every app's part of the surface stands on.

Views read what was sent, call the services that the pages call, and say what came of it. They have no rights
of their own: the account they hand on carries the key's ceiling.
"""

"""Reading licence signals. Pure: no database, no network, no framework.

A reading is a signal, not a decision: only a person raises rights.
"""

from corpus.licensing.crossref import CrossrefLicense
from corpus.licensing.jats import JatsLicense
from corpus.licensing.normaliser import Signal, normalise
from corpus.licensing.readings import LicenseReading

__all__ = ["CrossrefLicense", "JatsLicense", "LicenseReading", "Signal", "normalise"]

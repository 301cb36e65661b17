"""Why a backup cannot be made, read or restored: the message says what is wrong and what to do."""

from __future__ import annotations


class BackupError(Exception):
    """A backup cannot be made, read or restored."""


class Foreign(BackupError):
    """The file is something else."""


class Newer(BackupError):
    """The file was made by a newer version."""


class Truncated(BackupError):
    """The file breaks off."""


class Damaged(BackupError):
    """The file is not as it was written."""


class PassphraseNeeded(BackupError):
    """The file is sealed and no passphrase was given."""


class WrongPassphrase(BackupError):
    """The passphrase does not open the file."""


class Unfit(BackupError):
    """The file or the database is sound, and yet this cannot be done with it here."""


class NotEqual(BackupError):
    """What was restored is not what was backed up."""

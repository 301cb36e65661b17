"""Static files as they are served: under names that change with their content once they were collected."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class CollectedFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Compressed files under names with a hash, which browsers keep for good; collecting makes both.

    What was not collected keeps its plain name: nothing is in development and in the demo, and a page must
    not fail for a file that an update brought and nobody collected yet.
    """

    manifest_strict = False

    def stored_name(self, name: str) -> str:
        """Return the name with its hash, or the plain one."""
        known: str = self.hashed_files.get(self.hash_key(self.clean_name(name)), name)
        return known

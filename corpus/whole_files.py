"""Files that have their name only when they are whole: what a killed process leaves behind has another."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path
from typing import Final

PART: Final = ".part-"


@contextmanager
def written(target: Path, *, on_disk: bool = True) -> Iterator[BufferedWriter]:
    """Yield a file that takes the place of `target` when the block ends well; else nothing of it stays.

    With `on_disk` its content outlives a loss of power. The folder has to be there.
    """
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=PART)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            if on_disk:
                file.flush()
                os.fsync(descriptor)
        part.rename(target)
    finally:
        part.unlink(missing_ok=True)

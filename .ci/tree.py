"""Look through the tracked files and the environment for what must not be there.

Run from anywhere in the checkout; prints one line a finding and exits 1 when there is one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 2_000_000

# Written in pieces, so that this file does not find itself.
FORBIDDEN = {
    "the host of a package registry": r"\b(?:pypi\.o" + r"rg|pythonhosted\.o" + r"rg|npmjs\.(?:org|com))\b",
    "a path of one machine": rf"(?<![\w.])(?:/roo[t]/\w|/wor[k]/(?:main|shared)|{re.escape(str(ROOT))}\b)",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIV" + r"ATE KEY-----",
    "an access token": r"\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{36}|sk-(?:proj-)?[A-Za-z0-9]{32,})\b",
}
PATTERNS = {name: re.compile(pattern) for name, pattern in FORBIDDEN.items()}
LOCKED = re.compile(r"^[a-z0-9][a-z0-9._-]*(?:\[[a-z0-9,._-]+\])?==\S+(?: ; [^\\]+)? \\$", re.IGNORECASE)
HASHED = re.compile(r"^ {4}--hash=sha256:[0-9a-f]{64}(?: \\)?$")
# Code in these runs at every start of the interpreter: only what is known may bring one.
KNOWN_PTH = re.compile(r"^(?:__editable__\.sci_rag.*|a1_coverage|distutils-precedence|_virtualenv)\.pth$")


def tracked() -> list[Path]:
    """Return the files in version control that are there."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def in_file(path: Path) -> Iterator[str]:
    """Yield what is wrong with one file."""
    if path.stat().st_size > LARGEST:
        yield f"{path.name}: larger than {LARGEST:,} bytes"
    text = path.read_bytes().decode(errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        for name, pattern in PATTERNS.items():
            if pattern.search(line):
                yield f"{path.name}:{number}: {name}"
    if path.suffix == ".lock":
        yield from in_lock(path.name, text)


def in_lock(name: str, text: str) -> Iterator[str]:
    """Yield the lines of a lock that are neither a pinned requirement nor a hash, and pins without hash."""
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if LOCKED.match(line):
            following = lines[number] if number < len(lines) else ""
            if not HASHED.match(following):
                yield f"{name}:{number}: a requirement without a hash"
        elif line and not HASHED.match(line):
            yield f"{name}:{number}: not a pinned requirement"


def in_environment(packages: Path) -> Iterator[str]:
    """Yield the start-up files that no known package brings."""
    for path in sorted(packages.glob("*.pth")):
        if not KNOWN_PTH.match(path.name):
            yield f"{path.name}: runs at every start and comes from no known package"


def main() -> int:
    findings = [finding for path in tracked() for finding in in_file(path)]
    packages = [Path(path) for path in sys.path if path.endswith("site-packages")]
    findings += [finding for path in packages for finding in in_environment(path)]
    for finding in findings:
        sys.stdout.write(f"{finding}\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""Installs by pip and shows how far it is: one line on a terminal, nothing else unless it fails."""

import subprocess
import sys

_STEPS = ("Collecting ", "Obtaining ")


def main(arguments: list[str]) -> int:
    """Run `pip install` with these arguments."""
    command = [sys.executable, "-m", "pip", "install", "--progress-bar", "off", *arguments]
    said: list[str] = []
    seen = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        for line in pip.stdout or ():
            said.append(line)
            if line.startswith(_STEPS):
                seen += 1
                _show(f"{seen} packages  {line.split()[1]}")
            elif line.startswith("Installing collected packages"):
                _show(f"{seen} packages  unpacking …")
    _show("")
    if pip.returncode != 0:
        sys.stderr.writelines(said)
    return pip.returncode


def _show(words: str) -> None:
    if sys.stdout.isatty():
        sys.stdout.write(f"\r\x1b[K  {words[:70]}" if words else "\r\x1b[K")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

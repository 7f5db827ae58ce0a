"""Refuses to build a distribution that could not render: the browser code is fetched, not committed."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ASSET = Path("src/tidings/notify/render/assets/handlebars.min.js")


class CompleteBuild(build_py):
    """Copies the modules, once everything is there that belongs beside them."""

    def run(self) -> None:
        """Refuse where the code that rendering runs is missing."""
        if not self.editable_mode and not ASSET.exists():
            raise SystemExit(f"{ASSET} is missing; fetch it first: python tools/fetch_assets.py")
        super().run()


setup(cmdclass={"build_py": CompleteBuild})

"""What the papers of a project say of it agrees with what is built."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml


def test_the_citation_is_of_this_version_and_the_changelog_tells_of_it(root: Path):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["authors"] == [{"name": "ehrkg maintainers"}]
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])
    assert f"## {project['version']}" in (root / "CHANGELOG.md").read_text(encoding="utf-8")

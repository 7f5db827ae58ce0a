"""The alert rules that we ship, by name."""

from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).parents[2] / "deploy" / "prometheus" / "alerts.yaml"

RULES: dict[str, dict[str, Any]] = {
    rule["alert"]: rule for group in yaml.safe_load(_FILE.read_text())["groups"] for rule in group["rules"]
}

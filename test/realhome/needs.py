"""Lists the Python packages that the integrations of a configuration ask for in their manifests.

Usage: needs.py CONFIGURATION_YAML [INTEGRATION...]   (with Home Assistant's own Python)

Installed up front, the first start behaves like the second; otherwise Home Assistant fetches them one by one while it starts.
"""
import json
import pathlib
import re
import sys

import homeassistant

ROOT = pathlib.Path(homeassistant.__file__).parent / "components"
ALWAYS = ["stream", "assist_satellite", "mobile_app", "image_upload", "person", "hardware", "backup", "trend", "file_upload"]


def wanted(path, extra):
    """The integrations the configuration names, and for the demo the platforms it brings."""
    names = set(extra)
    for line in pathlib.Path(path).read_text().splitlines():
        if found := re.match(r"([a-z_]+)[ a-z]*:", line):
            names.add(found.group(1))
    if "demo" in names:
        names.update(p.stem for p in (ROOT / "demo").glob("*.py"))
        names.update(ALWAYS)
    return names


def requirements(names):
    """What those integrations and everything they depend on require."""
    todo, done, needs = list(names), set(), set()
    while todo:
        name = todo.pop()
        manifest = ROOT / name / "manifest.json"
        if name in done or not manifest.exists():
            continue
        done.add(name)
        data = json.loads(manifest.read_text())
        needs.update(data.get("requirements", []))
        todo.extend(data.get("dependencies", []))
    return needs


print("\n".join(sorted(requirements(wanted(sys.argv[1], sys.argv[2:])))))

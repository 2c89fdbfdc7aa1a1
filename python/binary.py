"""Puts the binary into the wheel: LOADLINE_BINARY says where it is.

The same binary goes into every package, so it is built once and not here.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BinaryHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        named = os.environ.get("LOADLINE_BINARY")
        if not named:
            raise RuntimeError("LOADLINE_BINARY does not say where the binary is: build it with make dist, and the wheel with make packages")
        binary = Path(named).resolve()
        if not binary.is_file():
            raise RuntimeError(f"there is no binary at {binary}: build it with make dist")
        build_data["shared_scripts"] = {str(binary): "loadline"}
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(binary)}"


def platform_tag(binary: Path) -> str:
    """The systems that a binary runs on (PEP 600): those with a C library no older than what it asks for, or all of Linux where it asks for none."""
    machine = os.environ.get("LOADLINE_MACHINE", platform.machine())
    # The versions that a dynamic binary asks for stand in it by name.
    versions = {tuple(int(part) for part in found.split(b".")) for found in re.findall(rb"GLIBC_(2\.\d+)", binary.read_bytes())}
    if not versions:
        return f"manylinux_2_17_{machine}.musllinux_1_1_{machine}"
    major, minor = max(versions)
    return f"manylinux_{major}_{minor}_{machine}"

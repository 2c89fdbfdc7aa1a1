#!/usr/bin/env bash
# Puts profilers that tests use where they are there, and Debian has no package of, into target/profilers: py-spy, from PyPI.
#
# Nothing needs them: without py-spy the test that profiles a Python program says that it was left out.
set -euo pipefail
cd "$(dirname "$0")/.."

into=$(realpath -m "${CARGO_TARGET_DIR:-target}")/profilers
scripts/tools.sh python3
python3 -m venv "$into"
"$into/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: py-spy==0.4.1
"$into/bin/py-spy" --version

"""``python -m loadline``: the command line."""

import os
import sys

from ._command import binary

os.execv(binary(), ["loadline", *sys.argv[1:]])

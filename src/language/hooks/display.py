"""Display for programs: every part becomes a file, which igloo reads when the program has ended. A line says what
type it is; the bytes come behind it."""
import atexit
import binascii
import importlib.util
import io
import json
import os
import sys
import time
import traceback

PLACE = "/tmp/.igloo-display"

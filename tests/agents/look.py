"""look.py BACKWARDS DIRECTORY...: looks for a text in the files of directories and in what processes are started with.
It is given backwards, so that it stands in no command line."""
import os
import stat
import sys

text = sys.argv[1][::-1].encode()
files = [os.path.join(at, name) for place in sys.argv[2:] for at, _, names in os.walk(place) for name in names]
files += [f"/proc/{pid}/{name}" for pid in os.listdir("/proc") if pid.isdigit() for name in ("environ", "cmdline")]
found = []
for path in files:
    try:
        if stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "rb") as file:
                found += [path] if text in file.read() else []
    except OSError:
        pass
print(f"looked into {len(files)} files:", *(found or ["nothing"]))

# ---- Runs a program without the traces of its compilation: that needs more memory than the program,
# in pieces between which little can be given back, and every child of a zygote would have its share.
import marshal
import os


def compiled(text):
    read, write = os.pipe()
    if os.fork() == 0:
        with open(write, "wb") as out:
            marshal.dump(compile(text, "<string>", "exec"), out)
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        code = marshal.load(file)
    os.wait()
    return code



# ---- From the beginning to the end.

def warm():
    """Everything that can be done ahead. Nothing here suffers from a fork: no thread, no event loop."""
    session = Session(Display())
    # By lines, although these are pipes: what a run printed is there even when it has to be killed.
    sys.stdout.reconfigure(encoding="utf-8", errors=sys.stdout.errors, line_buffering=True)
    sys.stderr.reconfigure(encoding="utf-8", errors=sys.stderr.errors)
    signal.signal(signal.SIGINT, ignore)
    body, last = session.compile("<warm>", b"import io\nprint('x', file=io.StringIO())\n1", True)
    exec(body, {})
    session.display.show(eval(last))
    return session


libc = None  # who was restored from a checkpoint has it; only they can be copied
PR_GET_DUMPABLE, PR_SET_DUMPABLE = 3, 4


def born_closed(make):
    """What it makes is closed to all other processes from its first moment on, as its parent is meanwhile."""
    open_before = libc.prctl(PR_GET_DUMPABLE)
    libc.prctl(PR_SET_DUMPABLE, 0)
    try:
        return make()
    finally:
        libc.prctl(PR_SET_DUMPABLE, open_before)


def reap(child):
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        pass  # user code ignores SIGCHLD, or waits for every child itself
    except Exception as error:  # from a signal handler of the user's
        report(error)


class Copies:
    """What concerns a fork of the session."""
    child = 0

    def fork(self, control, session, flags):
        """Of a child that igloo holds from its first moment on: the copy is who returns from it."""
        flush()
        if session.uses_c:
            flush_c()
        session.remember_place()
        try:
            self.child = born_closed(control.fork) if "closed" in flags and libc else control.fork()
        except OSError:  # too many processes
            return control.send("standin", 0, {"pid": 0})
        if self.child:
            return control.send("standin", 0, {"pid": self.child})
        if not control.is_another():  # the parent's channel: nobody held this child
            os._exit(1)

    def obey(self, word, text, flags, control, session):
        if word == "fork":
            self.fork(control, session, flags)
        elif word == "checkpoint":
            make_checkpoint(control, session, text)
        elif word == "reap" and self.child:
            reap(self.child)
            self.child = 0
        elif word == "copied":
            control.recognize()
            session.become_copy()
        elif word != "reap":
            os._exit(1)


def obey(control, session, copies):
    """One order, from its first byte to the word that it is done."""
    word, number, code, flags = control.read_order()
    if word != "run":
        return copies.obey(word, code, flags, control, session)
    session.display.number = number
    result = session.execute(f"<run {number}>", code, "echo" in flags)
    flush()
    if session.uses_c:
        flush_c()
    if os.getpid() != control.owner or not control.is_open(control.out):
        os._exit(result["status"])
    control.finish(number, result)


def serve(control, session):
    copies = Copies()
    while True:
        obey(control, session, copies)


def prepare(session, rounds):
    """What has no need of a channel, and some rehearsals."""
    session.display.control = control = Control()
    sys.argv = [FILE]
    if sys.path[0] != "":  # it is there when the driver is no file
        sys.path.insert(0, "")
    sys.meta_path.insert(0, session.display)
    builtins.display = session.display.display
    # A fork of the user's code must not hold the channel, nor answer in the parent's place.
    os.register_at_fork(after_in_child=control.leave)
    prepare_again(session, rounds)


def prepare_again(session, rounds):
    for _ in range(rounds):
        rehearse(session)
        unheard(lambda: session.execute("<run 0>", b"print(1)", True))
    linecache.cache.pop("<run 0>", None)
    session.sources.clear()


def unheard(action):
    output, pipe = os.dup(1), os.pipe()
    os.dup2(pipe[1], 1)
    action()
    os.dup2(output, 1)
    for each in (output, *pipe):
        os.close(each)


REHEARSAL = b"run 0 8 echo".ljust(HEAD - 1) + b"\nprint(1)"


def rehearse(session):
    """A run whose output and end nobody hears. What a fork shares with its parent is copied page
    by page where it is written to: here, and not while somebody waits."""
    control = session.display.control
    channel, output = (control.fd, control.out), os.dup(1)
    orders, nowhere = control.fd, control.out = os.pipe()
    os.write(nowhere, REHEARSAL)
    os.dup2(nowhere, 1)
    control.recognize()
    gc.freeze()  # a collection looks only at what comes later
    session.modules = len(sys.modules) - 1  # without __main__
    obey(control, session, None)
    os.dup2(output, 1)
    for each in (orders, nowhere, output):
        os.close(each)
    control.fd, control.out = channel
    session.make_module()  # a new one: what was made ahead is frozen, and so never let go


def open_session(session):
    control = session.display.control
    control.open()
    rehearse(session)
    control.recognize()
    told = b'{"pid": %d}' % os.getpid()  # the encoder would write to many pages
    control.write(b"ready 0 %d\n%s" % (len(told), told))
    serve(control, session)


def main():
    session = warm()
    prepare(session, 1)
    open_session(session)


main()

class Waiting:
    """The event loop of awaits at the top level. A KeyboardInterrupt in the midst of the loop's own
    code would break it: a task that was about to go on never would, or the loop would be "already
    running" for ever. So SIGINT raises only where user code runs. Elsewhere it cancels the task,
    which then stops where it waits."""

    def __init__(self):
        import asyncio  # costs more than all the rest together
        self.asyncio = asyncio
        # The loop keeps its tasks in a set of weak references.
        self.weak = asyncio.tasks.weakref.WeakSet.add.__code__.co_filename
        self.loop = asyncio.new_event_loop()
        self.runs = 0
        # Wakes the loop even from a wait that began between a signal and its handler.
        self.woken, self.wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.loop.add_reader(self.woken, os.read, self.woken, 4096)

    def usable(self):
        """Not after user code closed it, or a signal handler of its own raised in the midst of it."""
        if not self.loop.is_closed() and not self.loop.is_running():
            return True
        self.asyncio._set_running_loop(None)
        os.close(self.woken)
        os.close(self.wake)
        return False

    def run(self, begin):
        self.asyncio.set_event_loop(self.loop)
        self.asked = self.stops = 0
        self.runs += 1
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return self.loop.run_until_complete(begin())  # the user's own handler: theirs to decide
        signal.signal(signal.SIGINT, self.on_interrupt)
        if (wake := signal.set_wakeup_fd(self.wake)) != -1:  # the loop's own: it will do as well
            signal.set_wakeup_fd(wake)
        try:
            self.task = self.loop.create_task(begin())
            value = self.finish()
        except self.asyncio.CancelledError as cancelled:
            if not self.asked:
                raise
            raise KeyboardInterrupt().with_traceback(cancelled.__traceback__) from None
        finally:
            if (wake := signal.set_wakeup_fd(-1)) != self.wake:
                signal.set_wakeup_fd(wake)
            if signal.getsignal(signal.SIGINT) == self.on_interrupt:
                signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.asked:  # too late to be noticed, or cancelled in vain
            raise KeyboardInterrupt
        return value

    def finish(self):
        try:
            return self.loop.run_until_complete(self.task)
        except KeyboardInterrupt:
            if self.task.done():
                raise
            # It struck another task, or this one takes its time: the last chance to end well.
            self.task.cancel()
            return self.loop.run_until_complete(self.task)

    def on_interrupt(self, _signal, frame):
        self.asked += 1
        user = self.asyncio.current_task(self.loop)
        while frame:
            place, frame = frame.f_code.co_filename, frame.f_back
            if place.startswith("<run "):
                raise KeyboardInterrupt
            if place == self.weak:  # what the callback of a weak reference raises is lost
                user = None
                break
        if user:
            raise KeyboardInterrupt
        self.loop.call_soon_threadsafe(self.stop, self.runs)

    def stop(self, run):
        """In the loop, between two steps of anything; of a later run, if that one was over before."""
        if run != self.runs:
            return
        self.stops += 1
        if self.stops > 1:
            raise KeyboardInterrupt
        self.task.cancel()

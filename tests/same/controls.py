"""That the comparison can fail: each control is a case in which it must."""
import pathlib

from outcome import Outcome, Stream, same
from plain import Plain
from programs import Program, Setting
from served import Cold, NotServed, Server


def sees(one: str, other: str):
    """Two programs that differ in one way are told apart, however they are run."""
    def control(igloo: pathlib.Path, home: pathlib.Path) -> bool:
        plain, cold = Plain(igloo, "bash", Setting()), Cold(igloo, home)
        left, right = Program("one", "bash", one), Program("other", "bash", other)
        return (same(plain.run(left), cold.run(left)) and not same(plain.run(left), cold.run(right))
                and not same(plain.run(right), cold.run(left)))
    return control


def counts_bytes(igloo: pathlib.Path, home: pathlib.Path) -> bool:
    """Bytes that are no text are shown alike, and still are not the same."""
    plain = Plain(igloo, "bash", Setting())
    one, three = (plain.run(Program("x", "bash", f"printf '{text}'")) for text in (r"\xff", r"\xef\xbf\xbd"))
    return one.out.text == three.out.text and not same(one, three)


def leaves_sequences_out(igloo: pathlib.Path, home: pathlib.Path) -> bool:
    """What a server leaves out is left out of the other side, and nothing else."""
    plain = Outcome(0, Stream.of(b"\x1b[31mred\x1b[0m"), Stream.of(b""))
    served = Outcome(0, Stream("red", 12), Stream("", 0), cleaned=True)
    other = Outcome(0, Stream("rot", 12), Stream("", 0), cleaned=True)
    return same(plain, served) and not same(plain, other)


def notices_that_none_waits(igloo: pathlib.Path, home: pathlib.Path) -> bool:
    """A server that starts every interpreter when it is asked does not pass for a warm one."""
    server = Server(igloo, home / "none-waits", 0, Setting())
    server.waits, server.patience = True, 0.5
    try:
        server.run(Program("x", "bash", "true"))
    except NotServed:
        return True
    finally:
        server.close()
    return False


CONTROLS = {
    "output": sees("echo a", "echo b"),
    "order of output": sees("echo a; echo b", "echo b; echo a"),
    "end of the last line": sees("echo a", "printf a"),
    "errors": sees("echo a >&2", "echo a"),
    "exit codes": sees("exit 3", "exit 4"),
    "bytes": counts_bytes,
    "sequences": leaves_sequences_out,
    "waiting": notices_that_none_waits,
}


def failing(igloo: pathlib.Path, home: pathlib.Path) -> list[str]:
    home.mkdir(parents=True)
    return [name for name, control in CONTROLS.items() if not control(igloo, home)]

"""Programs that nobody here wrote, as this machine has them."""
from programs import Program


def found() -> list[Program]:
    return []

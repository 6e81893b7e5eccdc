"""What systems with a buffer share: a generated word waits in the buffer head until the next one is generated."""

from dataclasses import replace

from dtg.transitions.action import Operation
from dtg.transitions.state import State


def shifted(state: State) -> tuple[int, ...]:
    """The stack with the buffer head on it, if there is one."""
    return state.stack if state.buffer is None else (*state.stack, state.buffer)


def generate(state: State, word: str | None) -> State:
    """GEN for systems with a buffer: the new word enters it, and what was there moves to the stack."""
    return replace(
        state,
        words=(*state.words, word or ""),
        heads=(*state.heads, None),
        stack=shifted(state),
        buffer=len(state.words) + 1,
        last=Operation.GEN,
    )


def give_top_to_buffer(state: State) -> State:
    """LEFTARC: the top of the stack gets the buffer head as its head, and leaves."""
    assert state.buffer is not None
    *below, dependent = state.stack
    heads = state.with_head(dependent, state.buffer)
    return replace(state, stack=tuple(below), heads=heads, last=Operation.LEFTARC)

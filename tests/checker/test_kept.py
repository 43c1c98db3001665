"""Keys that are kept between runs and optional reads: exactly what a brute-force explorer finds."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.checker.exploring import Explorer, TooMany, starts_of
from tests.checker.kept_exploring import kept_codes, optional_codes, unclear_keys
from tests.checker.test_explorer import MERGED, Program, programs

PERSIST = st.sets(st.sampled_from(("a", "b", "m"))).map(frozenset)
SAID = ("GF201", "GF202", "GF205", "GF206", "GF302", "GF506", "GF209", "GF213")


def assert_agrees(program: Program, persist: frozenset[str]) -> None:
    explorer = Explorer(MERGED)
    try:
        explorer.run(program.tree, "", starts_of(program.inputs, program.optional))
    except TooMany:
        assume(False)
    unclear = unclear_keys(program.tree) & persist
    faults = kept_codes(explorer, program.tree, persist, frozenset((*program.inputs, *program.optional)))
    optional = optional_codes(explorer, program.tree, persist, faults)
    wanted = {(*place, code) for place, codes in faults.items() for code in codes}
    wanted |= {(*place, code) for place, code in optional.items()}
    found = [(f.node, f.key or "", f.code) for f in program.flow(persist).check() if f.code in SAID]
    assert len(found) == len(set(found)), "one finding per read and code"
    assert {each for each in found if each[1] not in unclear} == {each for each in wanted if each[1] not in unclear}


@settings(max_examples=150)
@given(programs(), PERSIST)
def test_the_checker_says_what_the_explorer_finds(program: Program, persist: frozenset[str]) -> None:
    assert_agrees(program, persist)

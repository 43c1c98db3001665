"""The rules, one file for each family, and the one table of those that exist."""

from __future__ import annotations

from graphflow.checker.rule import Rule
from graphflow.checker.rules.answers import LostResponse, ValueLostOnEdge
from graphflow.checker.rules.comparing import ConditionType
from graphflow.checker.rules.concurrency import ReadWriteRace, WriteWriteRace
from graphflow.checker.rules.control import EscalateOutsideLoop, MissingDefault, UnboundedLoop
from graphflow.checker.rules.costs import NeedlessOrder, PromptBloat
from graphflow.checker.rules.declared import AbsentOptional, NeedlessOptional, UndeclaredKey
from graphflow.checker.rules.endings import EffectBeforeAsk, ExhaustedUnchecked, UnreachableAfterHalt
from graphflow.checker.rules.escaping import EscalateInParallel
from graphflow.checker.rules.exits import BoundedOnlyLoop, InvariantExit, UnreachableCase, ZeroIterations
from graphflow.checker.rules.fields import UnknownField, UnvalidatedStructure
from graphflow.checker.rules.frameworks import EscalateCrossesLoops, ExclusiveJoin
from graphflow.checker.rules.freeform import (
    IrreducibleCycle,
    LoopLeftByFork,
    NoPathToExit,
    UnknownTarget,
    UnreachableNode,
)
from graphflow.checker.rules.gates import EffectBeforeGate, StaleGate
from graphflow.checker.rules.interface import OutputNotWritten, OverwrittenBeforeRead, UnreadWrite, UnusedInput
from graphflow.checker.rules.merging import BadMerge, ConflictingWriters
from graphflow.checker.rules.opened import OpenContract
from graphflow.checker.rules.prompts import InvalidPlaceholder, KeyInProse, LiteralBraces
from graphflow.checker.rules.sharing import SharedInstanceState
from graphflow.checker.rules.state import FirstIterationRead, MaybeUndefinedRead, StaleRead, UndefinedRead
from graphflow.checker.rules.structure import DuplicateName, EmptyComposite, InvalidName, MultipleParents
from graphflow.checker.rules.tools import BlockingCall, ToolNameClash, UnknownModel, UntypedTool
from graphflow.checker.rules.types import TypeMismatchRule

ALL_RULES: tuple[Rule, ...] = (
    DuplicateName(),
    InvalidName(),
    MultipleParents(),
    UnreachableNode(),
    NoPathToExit(),
    IrreducibleCycle(),
    EmptyComposite(),
    UnknownTarget(),
    LoopLeftByFork(),
    UndefinedRead(),
    MaybeUndefinedRead(),
    UnreadWrite(),
    OverwrittenBeforeRead(),
    FirstIterationRead(),
    StaleRead(),
    UndeclaredKey(),
    UnusedInput(),
    NeedlessOptional(),
    OpenContract(),
    OutputNotWritten(),
    LostResponse(),
    AbsentOptional(),
    ValueLostOnEdge(),
    WriteWriteRace(),
    ReadWriteRace(),
    BadMerge(),
    SharedInstanceState(),
    EscalateInParallel(),
    TypeMismatchRule(),
    ConflictingWriters(),
    UnknownField(),
    UnvalidatedStructure(),
    ConditionType(),
    UnboundedLoop(),
    InvariantExit(),
    EscalateOutsideLoop(),
    MissingDefault(),
    UnreachableCase(),
    StaleGate(),
    EffectBeforeGate(),
    EscalateCrossesLoops(),
    ExclusiveJoin(),
    ZeroIterations(),
    UnreachableAfterHalt(),
    BoundedOnlyLoop(),
    ExhaustedUnchecked(),
    EffectBeforeAsk(),
    InvalidPlaceholder(),
    LiteralBraces(),
    UnknownModel(),
    UntypedTool(),
    ToolNameClash(),
    BlockingCall(),
    KeyInProse(),
    PromptBloat(),
    NeedlessOrder(),
)

r"""Prompts with labelled parts, as the function models of the examples read them.

::

    labelled_parts("Topic: tides\nStory:\nOnce.", ["Topic", "Story"])     # {"Topic": "tides", "Story": "Once."}

It knows text only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise


def labelled_parts(text: str, labels: Sequence[str]) -> dict[str, str]:
    """Split a prompt at the labels with which its lines begin.

    Args:
        text: the prompt.
        labels: what the parts are called, without the colon.

    Returns:
        Label -> what follows it, up to the next one. Of several the last one counts, so free text that looks like a label
        belongs first. Parts that are not there are empty.
    """
    found = list(re.finditer(rf"^({'|'.join(map(re.escape, labels))}):[ \n]?", text, re.MULTILINE))
    parts = dict.fromkeys(labels, "")
    bounds = pairwise([*(match.start() for match in found), len(text)])
    for match, (_, end) in zip(found, bounds, strict=True):
        parts[match[1]] = text[match.end() : end].strip()
    return parts

"""Colours and type of the pictures, for light and dark surroundings: plain data and the style sheet made of it.

Every colour has a role. The writers put the colours of one palette into the drawing itself, so that it looks right in
programs that know no style sheets; the sheet then lets browsers follow the reader's preference::

    palette("auto")["model-line"]        "#6366f1"
    css("auto")                          ".graphflow-auto{--gf-model-line:#6366f1;...} @media ..."

This module knows nothing of graphs.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphflow.errors import UsageError, closest

FONTS = "Helvetica, Arial, 'Liberation Sans', 'Nimbus Sans', sans-serif"

_LIGHT: Mapping[str, str] = {
    "background": "#ffffff",
    "text": "#0f172a",
    "muted": "#475569",
    "line": "#64748b",
    "data": "#8b9bb2",
    "start": "#0f172a",
    "model-fill": "#eef2ff",
    "model-line": "#6366f1",
    "code-fill": "#ecfdf5",
    "code-line": "#10b981",
    "ask-fill": "#fdf2f8",
    "ask-line": "#ec4899",
    "branch-fill": "#fef3c7",
    "branch-line": "#f59e0b",
    "empty-fill": "#f8fafc",
    "back": "#d97706",
    "condition": "#b45309",
    "frame-fill": "#f8fafc",
    "frame-line": "#cbd5e1",
    "inner-fill": "#ffffff",
    "loop-fill": "#fffbeb",
    "loop-line": "#f59e0b",
    "custom-fill": "#f6fdf9",
    "failure": "#dc2626",
    "error": "#dc2626",
    "warning": "#b45309",
    "badge": "#ffffff",
}
_DARK: Mapping[str, str] = {
    "background": "#0b1020",
    "text": "#e2e8f0",
    "muted": "#cbd5e1",
    "line": "#94a3b8",
    "data": "#8494ab",
    "start": "#e2e8f0",
    "model-fill": "#1e1b4b",
    "model-line": "#818cf8",
    "code-fill": "#052e2b",
    "code-line": "#34d399",
    "ask-fill": "#3b0d29",
    "ask-line": "#f472b6",
    "branch-fill": "#3a2a08",
    "branch-line": "#fbbf24",
    "empty-fill": "#111827",
    "back": "#f59e0b",
    "condition": "#fcd34d",
    "frame-fill": "#131a2b",
    "frame-line": "#334155",
    "inner-fill": "#0f1626",
    "loop-fill": "#1d170a",
    "loop-line": "#d97706",
    "custom-fill": "#0a1a18",
    "failure": "#f87171",
    "error": "#ef4444",
    "warning": "#d97706",
    "badge": "#ffffff",
}
THEMES: Mapping[str, Mapping[str, str]] = {"auto": _LIGHT, "light": _LIGHT, "dark": _DARK}

FILLS: Mapping[str, tuple[str, str]] = {
    "model": ("model-fill", "model-line"),
    "code": ("code-fill", "code-line"),
    "ask": ("ask-fill", "ask-line"),
    "glue": ("empty-fill", "line"),
    "branch": ("branch-fill", "branch-line"),
    "gate": ("branch-fill", "branch-line"),
    "test": ("branch-fill", "branch-line"),
    "empty": ("empty-fill", "frame-line"),
    "missing": ("empty-fill", "failure"),
    "point": ("line", "line"),
    "each": ("background", "line"),
    "port": ("line", "line"),
    "start": ("start", "start"),
    "end": ("background", "start"),
    "parallel": ("frame-fill", "frame-line"),
    "conditional": ("frame-fill", "branch-line"),
    "map": ("frame-fill", "data"),
    "custom": ("custom-fill", "code-line"),
    "subflow": ("inner-fill", "line"),
    "workflow": ("frame-fill", "frame-line"),
    "sequence": ("inner-fill", "frame-line"),
    "loop": ("loop-fill", "loop-line"),
}
"""Kind of node or frame -> roles of its surface and its border."""

LINES: Mapping[str, str] = {
    "control": "line",
    "call": "code-line",
    "back": "back",
    "escalate": "back",
    "error": "failure",
    "fault": "failure",
    "data": "data",
}
"""Kind of line -> role of its colour."""

TEXTS: Mapping[str, str] = {
    "name": "text",
    "title": "text",
    "kind": "muted",
    "small": "muted",
    "control": "condition",
    "failure": "failure",
    "key": "muted",
}
"""Style of a text -> role of its colour."""


def palette(theme: str) -> Mapping[str, str]:
    """Give the colours of a theme, role -> colour; those of "auto" are the light ones.

    Args:
        theme: "auto", "light" or "dark".

    Raises:
        UsageError: there is no such theme.
    """
    if theme not in THEMES:
        similar = closest(theme, THEMES)
        hint = f"did you mean `{similar}`?" if similar else f"use one of {', '.join(f'`{name}`' for name in THEMES)}"
        raise UsageError(f"unknown theme `{theme}`; {hint}")
    return THEMES[theme]


def css(theme: str) -> str:
    """Write the style sheet of a theme. Everything in it is inside `.graphflow-THEME`, so pictures may share a page.

    Args:
        theme: "auto", "light" or "dark".

    Returns:
        The sheet, without anything that XML would have to escape.
    """
    root = f".graphflow-{theme}"
    sheet = [f"{root}{{{_variables(palette(theme))}}}"]
    if theme == "auto":
        sheet.append(f"@media (prefers-color-scheme: dark){{{root}{{{_variables(_DARK)}}}}}")
    sheet += [f"{root} .{selector}{{{rules}}}" for selector, rules in _rules()]
    return "\n".join(sheet)


def _variables(colours: Mapping[str, str]) -> str:
    return "".join(f"--gf-{role}:{colour};" for role, colour in colours.items())


def _rules() -> list[tuple[str, str]]:
    rules = [("surface", "fill:var(--gf-background)")]
    rules += [
        (f"{kind} .body", f"fill:var(--gf-{fill});stroke:var(--gf-{line})") for kind, (fill, line) in FILLS.items()
    ]
    rules += [(f"{kind} .detail", f"stroke:var(--gf-{FILLS[kind][1]})") for kind in ("each", "ask")]
    rules.append(("end .core", "fill:var(--gf-start);stroke:none"))
    for kind, role in LINES.items():
        rules.append((f"{kind} .path", f"stroke:var(--gf-{role})"))
        rules.append((f"{kind} .tip", f"fill:var(--gf-{role});stroke:var(--gf-{role})"))
    rules += [(f"text-{style}", f"fill:var(--gf-{role})") for style, role in TEXTS.items()]
    rules += [(f"badge-{severity}", f"fill:var(--gf-{severity})") for severity in ("error", "warning")]
    rules.append(("label text", "stroke:var(--gf-background)"))
    rules.append(("badge-text", "fill:var(--gf-badge)"))
    rules.append(("label .badge-text", "stroke:none"))
    return rules

"""Planted faults of control, of prompts and of cost, for the tables of `test_rules` and `test_planted_control`."""

from __future__ import annotations

# code -> (definitions, root, options, key, severity); the line that is flagged ends in "# here".
PLANTED: dict[str, tuple[str, str, str, str | None, str]] = {
    "GF502": (
        ('w = LlmAgent(name="w", instruction="x", output_key="d")\n'
         'l = LoopAgent("l", [w], until=key("v") == "good")  # here'),
        "l", 'inputs={"v": str}', "v", "error",
    ),
    "GF505": (
        ('a = LlmAgent(name="a", instruction="x")\n'
         'c = ConditionalAgent("c", on=key("k"), cases={"x": a, "z": a.clone({"name": "z"})}, default=PASS)  # here'),
        "c", 'inputs={"k": Literal["x", "y"]}', "k", "warning",
    ),
    "GF506": (
        ('w = LlmAgent(name="w", instruction="x", output_key="k")\n'
         'c = ConditionalAgent("c", when=key("v"), then=w)\n'
         'g = Gate("g", require=key("k") == "ok")  # here'),
        'SequentialAgent("s", [c, g])', 'inputs={"v": bool}', "k", "error",
    ),
    "GF507": (
        ('send = FunctionAgent("send", lambda: {}, reads=[], effect="irreversible")  # here\n'
         'g = Gate("g", require=key("ok"))'),
        'SequentialAgent("s", [send, g])', 'inputs={"ok": bool}', None, "warning",
    ),
    "GF508": (
        ('@agent  # here\ndef poll(ctx): ctx.actions.escalate = True\n'
         'i = LoopAgent("i", [poll], max_iterations=2)'),
        'LoopAgent("o", [i], max_iterations=2)', "", None, "warning",
    ),
    "GF509": (
        ('def choose(ctx): ctx.route = "a" if ctx.message else "b"\n'
         'a, b = FunctionAgent("a", **STEP), FunctionAgent("b", **STEP)\n'
         'c = FunctionAgent("c", **STEP)  # here'),
        'Workflow("w", [(START, choose), (choose, {"a": a, "b": b}), ((a, b), c)])', "", None, "error",
    ),
    "GF510": (
        'a = LlmAgent(name="a", instruction="x")\nl = LoopAgent("l", [a], max_iterations=0)  # here',
        "l", "", None, "error",
    ),
    "GF511": (
        ('@agent\ndef stop(ctx): ctx.actions.halt = "no"\n'
         'a = LlmAgent(name="a", instruction="x")  # here'),
        'SequentialAgent("s", [stop, a])', "", None, "warning",
    ),
    "GF513": (
        ('send = FunctionAgent("send", lambda: {}, reads=[], effect="irreversible")\n'
         'a = LlmAgent(name="a", instruction="x", output_key="v")\n'
         'l = LoopAgent("l", [a], until=key("v") == "good", max_iterations=3)  # here'),
        'SequentialAgent("s", [l, send])', "", None, "info",
    ),
    "GF514": (
        ('@agent(writes="said")\nasync def refund(ctx) -> str:\n    print("refund")  # here\n'
         '    return await ctx.ask("Refund?")'),
        "refund", 'outputs=["said"]', None, "warning",
    ),
    "GF512": (
        'a = LlmAgent(name="a", instruction="x")\nl = LoopAgent("l", [a], max_iterations=3)  # here',
        "l", "", None, "info",
    ),
    "GF601": (
        'a = LlmAgent(name="a", instruction="{topic} {topic[0]}")  # here', "a", 'inputs={"topic": str}', "topic", "error",
    ),
    "GF602": (
        'a = LlmAgent(name="a", instruction="{topic} {{topic}}")  # here', "a", 'inputs={"topic": str}', "topic", "warning",
    ),
    "GF603": (
        'a = LlmAgent(name="a", instruction="x", model="gemni-2.5-flash")  # here', "a", "", None, "error",
    ),
    "GF606": (
        'def find(email) -> str: return ""\na = LlmAgent(name="a", instruction="x", tools=[find])  # here',
        "a", "", None, "error",
    ),
    "GF607": (
        'def find(email: str) -> str: return ""\na = LlmAgent(name="a", instruction="x", tools=[find, find])  # here',
        "a", "", None, "error",
    ),
    "GF608": (
        ('import time\n@agent(writes="page")\nasync def fetch(ctx) -> str:\n    time.sleep(1)  # here\n'
         '    return ""'),
        "fetch", 'outputs=["page"]', None, "warning",
    ),
    "GF609": (
        ('w = LlmAgent(name="w", instruction="x", output_key="draft")\n'
         'c = LlmAgent(name="c", instruction="Read state[\'draft\'].")  # here'),
        'SequentialAgent("s", [w, c])', 'outputs=["draft"]', "draft", "warning",
    ),
    "GF701": (
        ('a = LlmAgent(name="a", instruction="{book}", output_key="k")  # here\n'
         'b, c = a.clone({"name": "b", "output_key": "j"}), a.clone({"name": "c", "output_key": "i"})'),
        'ParallelAgent("p", [a, b, c])', 'keys=[Key("book", str, default="word " * 2000)]', "book", "info",
    ),
    "GF702": (
        ('a = LlmAgent(name="a", instruction="x", output_key="k")\n'
         'b = LlmAgent(name="b", instruction="y", output_key="j")  # here'),
        'SequentialAgent("s", [a, b])', 'outputs=["k", "j"]', None, "info",
    ),
}  # fmt: skip

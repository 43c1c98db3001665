"""A manual is translated: a strong engine with retries, a weaker one in its place, a glossary, a check of the numbers.

::

    prepare -> glossary -> languages [de (translate|fallback -> numbers) | fr ...] -> compare -> publish | apologise
"""

from __future__ import annotations

from graphflow import (
    ConditionalAgent,
    Context,
    Flow,
    FunctionAgent,
    LlmAgent,
    ParallelAgent,
    RetryPolicy,
    SequentialAgent,
    agent,
    key,
)

PATIENT = RetryPolicy(attempts=3, backoff=0.0, jitter=0.0)


@agent(writes="source", blocking=False)
def prepare(manual: str) -> str:
    """Puts non-breaking spaces between numbers and units."""
    return manual.replace(" mm", "\u00a0mm").replace(" °C", "\u00a0°C")


glossary = LlmAgent(
    name="glossary",
    instruction=(
        "List the terms of the manual that must be translated the same way everywhere, as a JSON object from "
        "term to what it "
        'means: {"torque wrench": "tool that limits the force", "shim": "thin metal strip"}. At most 40 terms.'
    ),
    prompt="{source}",
    output_key="glossary",
    output_schema=dict[str, str],
    retry=PATIENT,
    on_error={"glossary": {}},
)


def into(code: str, language: str) -> SequentialAgent:
    """A translation with a fallback, and a check of its numbers."""
    weak = LlmAgent(
        name=f"weak_{code}",
        model="gemini-2.5-flash",
        instruction=(
            f"Translate into {language}, sentence by sentence. Keep numbers and units. Do not explain anything."
        ),
        prompt="{source}",
        output_key=f"text_{code}",
    )
    translate = LlmAgent(
        name=f"translate_{code}",
        instruction=(
            f"Translate the manual into {language}. Use the formal address. Keep units, part numbers (A-100 to "
            f"A-999) and "
            "placeholders in double brackets [[like this]] exactly as they are. Follow the glossary where it "
            "has a term."
        ),
        prompt="Glossary: {glossary}\n\n{source}",
        output_key=f"text_{code}",
        retry=PATIENT,
        timeout=120.0,
        on_error=weak,
    )

    def same(ctx: Context) -> bool:
        source, text = ctx.state["source"], ctx.state[f"text_{code}"]
        return sorted(filter(str.isdigit, source)) == sorted(filter(str.isdigit, text))

    numbers = FunctionAgent(name=f"numbers_{code}", func=same, reads=["source", f"text_{code}"], writes=f"same_{code}")
    return SequentialAgent(name=f"into_{code}", sub_agents=[translate, numbers])


compare = LlmAgent(
    name="compare",
    instruction=(
        "Compare both translations with each other: does one say something that the other does not? Translate "
        "nothing. Reply "
        "with one line for each difference, or with `none`."
    ),
    prompt="German:\n{text_de}\n\nFrench:\n{text_fr}",
    output_key="differences",
)
publish = LlmAgent(
    name="publish",
    instruction="Write the release note: which languages are there, and what a technical writer should look at first.",
    prompt="Differences: {differences}",
    output_key="release_note",
)
apologise = LlmAgent(
    name="apologise",
    instruction="Say which translation has wrong numbers, and that it must not be printed. Be brief.",
    prompt="Numbers are right in German: {same_de}, in French: {same_fr}",
    output_key="release_note",
)

flow = Flow(
    SequentialAgent(
        name="translation",
        sub_agents=[
            prepare,
            glossary,
            ParallelAgent(name="languages", sub_agents=[into("de", "German"), into("fr", "French")]),
            ConditionalAgent(
                name="printable",
                when=(key("same_de") == True) & (key("same_fr") == True),  # noqa: E712
                then=SequentialAgent(name="good", sub_agents=[compare, publish]),
                otherwise=apologise,
            ),
        ],
    ),
    inputs={"manual": str},
    outputs=["text_de", "text_fr", "release_note"],
    model="gemini-2.5-pro",
)
INPUTS = {"manual": "Turn by 3 mm."}
REPLIES = {
    "glossary": RuntimeError("no answer"),
    "translate_de": RuntimeError("no answer"),
    "weak_de": "3 mm drehen.",
    "translate_fr": "Tournez de 3 mm.",
    "*": "none",
}

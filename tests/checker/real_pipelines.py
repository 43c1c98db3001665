"""The structure of real pipelines, as sketches (see `sketches`), and what a careful reader says about each.

Keys are as they were found, agents are a1, a2, ...; the pipelines were written for Google ADK, so they are checked under its
profile. A verdict is a letter of `MEANS` and the key that it is about: everything above a note that is to be found, no more.
"""

from __future__ import annotations

from dataclasses import dataclass

MEANS: dict[str, frozenset[str]] = {
    "R1": frozenset(
        {"GF201", "GF213"}
    ),  # never written; by name the latter where the read is optional or has a default
    "R2": frozenset({"GF202"}),  # depends on an order that the model chooses
    "R3": frozenset({"GF205"}),  # first iteration
    "R4": frozenset({"GF302"}),  # written by a concurrent branch
    "W2": frozenset({"GF301"}),  # two branches write it
    "W3": frozenset({"GF204"}),  # replaced before anybody reads it
    "L1": frozenset({"GF501"}),  # nothing ends the loop
    "L3": frozenset(
        {"GF502", "GF203"}
    ),  # an exit that cannot work: nothing sets what it tests, nothing tests what is set
    "G1": frozenset({"GF504"}),  # a route without an edge
    "G2": frozenset({"GF509"}),  # a join that waits for ever
    "G3": frozenset({"GF214"}),  # a value lost on an edge
    "G4": frozenset({"GF213"}),  # a parameter with a default that nobody writes; without one it is an R1
    "T": frozenset({"GF401", "GF404"}),  # text taken for structure
    "P2": frozenset({"GF602"}),  # braces that are not replaced
    "N1": frozenset({"GF102"}),  # a name that is none
}


@dataclass(frozen=True)
class Pipeline:
    """One pipeline.

    Attributes:
        id: its number.
        sketch: its structure.
        verdict: what is to be said, "letter key" each; nothing for most.
        given: keys that its application seeds, with commas between.
    """

    id: str
    sketch: str
    verdict: tuple[str, ...] = ()
    given: str = ""


INEXPRESSIBLE: dict[str, str] = {
    "P046": "one of its agents runs elsewhere and is called over the network",
    "P047": "one of its agents runs elsewhere and is called over the network",
    "P048": "one of its agents runs elsewhere and is called over the network",
}
"""Pipelines that cannot be written with our agents, and why."""

REPRODUCERS: tuple[Pipeline, ...] = (
    Pipeline("1", "a1->report tools[a2(reads report)]", ("R2 report",)),
    Pipeline(
        "2",
        "Par after(reads tax_check_result,credit_result,docs_result)[a1->tax_result; a2->credit_result; a3->docs_result]",
        ("R1 tax_check_result",),
    ),
    Pipeline("3", "Par after(uses credit_result)[a1->tax_result; a2->credit_result]", ("T credit_result",)),
    Pipeline("4", "Loop(max=3)[a1(reads draft)->notes; a2(reads draft,notes)->draft exit]", ("R3 draft",)),
    Pipeline("4 seeded", "Seq[a1->draft; Loop(max=3)[a2(reads draft)->notes; a3(reads draft,notes)->draft exit]]"),
    Pipeline("5", 'Loop(max=4)[a1->text says "Set the flag when good." after(ends if done)]', ("L3 done",)),
    Pipeline("5 by a stage", "Loop(max=4)[a1->text; fn a2 code(ends if done)]", ("L3 done",)),
    Pipeline("5 set", "Loop(max=4)[a1->text code(sets done); fn a2 code(ends if done)]"),
    Pipeline("6", "Loop(max=3)[Seq after(sets finished)[a1; a2]]", ("L3 finished",)),
    Pipeline("6 by a stage", "Loop(max=3)[Seq[a1; fn a2 code(sets finished)]]", ("L3 finished",)),
    Pipeline(
        "7",
        "Graph{a1; fn a2 several; a3; a4; a5; JoinNode a6; a7 | START->a1, a1->a2, a2->a3[x], a2->a4[y], a2->a5[z], "
        "a3->a6, a4->a6, a5->a6, a6->a7}",
        ("G2 -",),
    ),
    Pipeline(
        "7 unconditional",
        "Graph{a1; fn a2; a3; a4; JoinNode a6; a7 | START->a1, a1->a2, a2->a3, a2->a4, a3->a6, a4->a6, a6->a7}",
    ),
    Pipeline("8", "Graph{fn a1 (returns ok,rejected); a2 | START->a1, a1->a2[ok]}", ("G1 -",)),
    Pipeline("8 mapped", "Graph{fn a1 (returns ok,rejected); a2; a3 | START->a1, a1->a2[ok], a1->a3[rejected]}"),
    Pipeline(
        "9",
        "Graph{fn a1(params words=,text=); a2; a3 | START->a1, a1->a2[good], a1->a3[bad]}",
        ("G4 text", "G4 words"),
    ),
    Pipeline(
        "9 required",
        "Graph{fn a1(params words,text); a2; a3 | START->a1, a1->a2[good], a1->a3[bad]}",
        ("R1 text", "R1 words"),
    ),
    Pipeline(
        "9 written",
        "Graph{fn a0 code(writes words,text); fn a1(params words,text); a2; a3 | START->a0, a0->a1, a1->a2[good], a1->a3[bad]}",
    ),
    Pipeline(
        "10",
        'Graph{a1; fn a2(params node_input); a3 says "Publish the approved draft." | '
        "START->a1, a1->a2, a2->a3[pass], a2->END[fail]}",
        ("G3 -",),
    ),
    Pipeline("11", 'Seq[a1->budget:Budget; a2 says "Stay below ${budget.limit}."]', ("P2 budget",)),
    Pipeline("11 no dollar", 'Seq[a1->budget:Budget; a2 says "Stay below {budget.limit}."]', ("P2 budget",)),
    Pipeline("11 whole", 'Seq[a1->budget:Budget; a2 says "Stay within {budget}."]'),
    Pipeline("12", "a1->letter code(reads letter) transfers[a2->letter]", ("W3 letter",)),
    Pipeline("12 loop", "Seq[a1->letter; Loop(max=2)[a2(reads letter)->letter]]"),
    Pipeline("13", 'a1 says "About {{topic}}."', ("R1 topic",)),
    Pipeline("13 other braces", 'a1 says \'Answer {"name": "x"}, in { color: red }.\''),
    Pipeline("13 written", 'Seq[a1->topic; a2 says "About {topic}."]'),
    Pipeline("14", "Seq before(seeds)[a1(reads region,currency)]"),
    Pipeline("15 exclusive", "Custom code(reads reply)[a1->reply; a2->reply; a3->reply]"),
    Pipeline("15 apart", "Par[a1->part_1; a2->part_2]"),
    Pipeline("15 together", "Par[a1->summary; a2->summary]", ("W2 summary",)),
    Pipeline("15 read", "Par[a1->summary; a2(reads summary)->summary]", ("R4 summary", "W2 summary")),
)
"""The faults that real pipelines have, as small as can be, and their correct neighbours."""

PIPELINES: tuple[Pipeline, ...] = (
    Pipeline("P000", "a4 tools[a1->generated_script; a2->visual_concepts; a3->final_short_concept]"),
    Pipeline("P001", "Loop(max=3)[a1->generated_script; a2->visual_concepts; a3->final_short_concept]"),
    Pipeline(
        "P002",
        "Graph{fn a1 code(writes latest_input); a2(reads latest_input)->weekend_budget:Budget; "
        'fn a3(params weekend_budget) code(reads weekend_budget); fn a4; a5 says "{weekend_budget.budget}"; a6 | '
        "START->a1, a1->a2, a2->a3, a3->a4[too_low], a3->a5[value_ideas], a3->a6[premium_ideas]}",
        ("P2 weekend_budget",),
    ),
    Pipeline(
        "P003",
        "Seq before(reads initial_topic) before(writes initial_topic)[a1(reads initial_topic)->current_document; "
        "Loop(max=5)[a2(reads current_document)->criticism; a3(reads criticism,current_document)->current_document exit]]",
    ),
    Pipeline(
        "P004",
        "Seq[Par[a1->renewable_energy_result; a2->ev_technology_result; a3->carbon_capture_result]; "
        "a4(reads carbon_capture_result,ev_technology_result,renewable_energy_result)]",
    ),
    Pipeline(
        "P005",
        "Seq[a1->generated_code; a2(reads generated_code)->review_comments; "
        "a3(reads generated_code,review_comments)->refactored_code]",
    ),
    Pipeline("P006", "a3 transfers[a1; a2]"),
    Pipeline(
        "P007",
        "a3->last_weather_report code(reads user_preference_temperature_unit) "
        "code(writes guardrail_block_keyword_triggered,last_city_checked_stateful) transfers[a1; a2]",
        given="user_preference_temperature_unit",
    ),
    Pipeline(
        "P008",
        "a3->last_weather_report code(reads user_preference_temperature_unit) code(writes guardrail_block_keyword_triggered,"
        "guardrail_tool_block_triggered,last_city_checked_stateful) transfers[a1; a2]",
        given="user_preference_temperature_unit",
    ),
    Pipeline("P049", "a3 transfers[a1; a2]"),
    Pipeline("P050", "Seq[a1; a2]"),
    Pipeline("P051", "Seq[a1; a2]"),
    Pipeline(
        "P052",
        "Seq[a1 code(reads rolls) code(writes rolls); a2 code(reads rolls) code(writes rolls); "
        "a3 code(reads rolls) code(writes rolls); a4 code(reads rolls) code(writes rolls)]",
    ),
    Pipeline(
        "P053",
        "a4 code(writes execution_agents) transfers[Seq[Par[a1->code_agent_output before(needs execution_agents); "
        "a2->math_agent_output before(needs execution_agents)]; a3 code(reads execution_agents)]]",
        ("R2 execution_agents",),
    ),
    Pipeline("P092", "Loop(max=5)[a1]"),
    Pipeline("P093", "Par[a1; a2; a3]"),
    Pipeline("P094", "Seq[a1; a2; a3]"),
    Pipeline("P095", "a4 transfers[a1; a2; a3]"),
    Pipeline("P096", "a3 tools[a1; a2]"),
    Pipeline(
        "P097",
        "Seq[a1->validation_status; a2->lead_score; a3(reads lead_score,validation_status)->action_recommendation]",
    ),
    Pipeline(
        "P098", "Seq[Par[a1->cpu_info; a2->memory_info; a3->disk_info]; a4(reads cpu_info,disk_info,memory_info)]"
    ),
    Pipeline(
        "P099",
        "Seq[a1->current_post; Loop(max=10)[a2(reads current_post)->review_feedback code(writes review_status) exit; "
        "a3(reads current_post,review_feedback)->current_post]]",
    ),
    Pipeline("P100", "a4 tools[a3] transfers[a1; a2 code(writes last_joke_topic)]"),
    Pipeline(
        "P112",
        "Seq[a1->research_findings; a2(reads research_findings)->draft_post; a3(reads draft_post)->editorial_feedback; "
        "a4(reads draft_post,editorial_feedback)->final_post]",
    ),
    Pipeline(
        "P115",
        "Seq[a1->current_essay; Loop(max=5)[a2(reads current_essay)->critique; "
        "a3(reads critique,current_essay)->current_essay exit]]",
    ),
    Pipeline(
        "P117",
        "Seq[Par[a1->flight_options; a2->hotel_options; a3->activity_options]; "
        "a4(reads activity_options,flight_options,hotel_options)->final_itinerary]",
    ),
    Pipeline(
        "P120",
        "Seq[Par[Seq[a1->raw_news; a2(reads raw_news)->news_summary]; "
        "Seq[a3->raw_social; a4(reads raw_social)->social_insights]; "
        "Seq[a5->raw_experts; a6(reads raw_experts)->expert_quotes]]; "
        "a7(reads expert_quotes,news_summary,social_insights)->draft_article; a8(reads draft_article)->edited_article; "
        "a9(reads edited_article)->published_article]",
    ),
    Pipeline("P122", "Graph{fn a1; fn a2; a3 | START->a1, a1->a2, a2->a3}"),
    Pipeline("P123", "Graph{fn a1; a2; a3; a4 | START->a1, a1->a2[billing], a1->a3[shipping], a1->a4[default]}"),
    Pipeline(
        "P124",
        "Graph{fn a1; JoinNode a2; fn a3; fn a4; fn a5 | START->a1, a1->a2, START->a3, a3->a2, START->a4, a4->a2, a2->a5}",
    ),
    Pipeline(
        "P127",
        "Graph{a1; fn a2 code(reads attempts) code(writes attempts); a3 | START->a1, a1->a2, a2->a1[fail], a2->a3[pass]}",
        ("G3 -",),
    ),
    Pipeline(
        "P136", "Seq[Par[a1->order_info; a2->customer_history]; Loop(max=2)[a3->response_draft; a4->quality_result]]"
    ),
    Pipeline("P137", "Custom code(reads complexity)[a1; a2; a3->complexity]"),
    Pipeline("P138", "a4 transfers[a1; a2; a3]"),
    Pipeline("P139", "Loop(max=3)[a1->generated_code; a2->review_result]"),
    Pipeline("P140", "Seq[Par[a1->flights; a2->hotels; a3->activities]; a4->travel_plan; a5]"),
    Pipeline("P141", "Par[a1->flight_options; a2->hotel_options; a3->activity_options]"),
    Pipeline("P142", "Seq[a1->collected_data; a2->analysis_result; a3->final_report]"),
    Pipeline("P143", "a3 tools[a1; a2]"),
    Pipeline(
        "P144",
        "Seq[Par[a1->spots_result; a2->restaurants_result; a3->transport_result]; a4->schedule_result; a5->budget_result]",
    ),
    Pipeline(
        "P145",
        "a3 transfers[a1 code(reads user_name,user_tier); a2 code(reads user_name)]",
        given="user_name,user_tier",
    ),
    Pipeline("P146", "Custom code(reads user_tier)[a1]", given="user_tier"),
    Pipeline("P147", "a3 transfers[a1; a2]"),
    Pipeline("P151", "Loop[a1; a2]", ("L1 -",)),
    Pipeline("P152", "Loop(max=5)[a1; a2]"),
    Pipeline(
        "M13",
        "Custom code(reads tone_check_result)[a1(reads topic)->current_story; Loop(max=2)[a2(reads current_story)->criticism; "
        "a3(reads criticism,current_story)->current_story]; Seq[a4(reads current_story)->grammar_suggestions; "
        'a5 says "{{current_story}}"->tone_check_result]]',
        given="topic",
    ),
    Pipeline(
        "M14",
        "Seq[Par[Seq[a1->raw_news; a2(reads raw_news)->news_summary]; "
        "Seq[a3->raw_social; a4(reads raw_social)->social_insights]; "
        "Seq[a5->raw_experts; a6(reads raw_experts)->expert_quotes]]; "
        '"a 7"(reads expert_quotes,news_summary,social_insights)->draft_article; a8(reads draft_article)->edited_article; '
        "a9(reads edited_article)->published_article]",
        ("N1 -",),
    ),
    # What is wrong with it is a call of the framework that does not exist; its structure is sound.
    Pipeline("M15", "Loop(max=3)[a1; a2; a3]"),
    Pipeline(
        "M17",
        "Seq[a1->current_document; Loop(max=5)[a2(reads current_document)->criticism; "
        'a3(reads criticism) says "{{current_document}}"->current_document exit]]',
    ),
    Pipeline(
        "M18",
        "Seq[a1->generated_code; a2(reads generated_code)->review_comments; "
        "a3(reads generated_code,review_comments)->refactored_code]",
    ),
    Pipeline(
        "M19",
        'Graph{a1; fn a2->:CityTime; a3 takes CityTime says "{CityTime.time_info} {CityTime.city}"; fn a4 | '
        "START->a1, a1->a2, a2->a3, a3->a4}",
        ("P2 CityTime",),
    ),
    Pipeline(
        "M20",
        'Graph{a1; fn a2(params city)->:CityTime; a3 takes CityTime says "{CityTime.city}, <CityTime.city from a2>" | '
        "START->a1, a1->a2, a2->a3}",
        ("P2 CityTime", "R1 city"),
    ),
    Pipeline("M21", "Graph{fn a1->attempts; fn a2(params attempts)->attempts; fn a3 | START->a1, a1->a2, a2->a3}"),
    Pipeline(
        "M24", "Graph{a1->request; fn a2(params request); fn a3(params request,node_input) | START->a1, a1->a2, a2->a3}"
    ),
    Pipeline(
        "M27",
        "Graph{fn a1->input; a2(reads input)->kind; a3(reads input); a4(reads input); a5(reads input) | "
        "START->a1, a1->a2, a2->a3[billing], a2->a4[technical], a2->a5[sales]}",
    ),
    Pipeline("M28", "Graph{fn a1; fn a2; fn a3; fn a4 | START->a1, a1->a2, a2->a3, a3->a4}"),
)
"""A third of the pipelines that were read."""

"""A fake model for curation: variants of instructions, plans, captions, scores and reflections."""

import json
from typing import Any

from imarena.clients.fake_answers import ChatQuery


def answer(query: ChatQuery) -> str:
    """Answer each prompt of `curation/prompts` with valid JSON."""
    if '"paraphrases"' in query.text:
        reply: dict[str, Any] = {"paraphrases": [f"Kindly: {query.text[16:60]}"], "easier": "Less.", "harder": "More."}
    elif '"queries"' in query.text:
        reply = {"queries": [{"text": "cat", "aspect": "subject", "exclude": []}]}
    elif '"score"' in query.text:
        reply = {"fits": 1, "visible": 1, "feasible": 1, "judgeable": 1, "score": 0.9, "reason": "good"}
    elif '"caption"' in query.text:
        reply = {"caption": "A cat."}
    else:
        reply = {"missing": [], "unexpected": [], "note": "none"}
    return json.dumps(reply)

"""The supervisor's answer: what the gate says, in words; never a retry that could only bring the same again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["answer"]


def answer(material: Mapping[str, Any]) -> dict[str, Any]:
    """Always `proceed`: an answer made by code from the same material would be the same after a retry."""
    gate: Mapping[str, Any] = material.get("gate") or {}
    issues = [str(issue) for issue in gate.get("issues") or ()]
    phase = str(material.get("phase") or material.get("current_phase") or "phase")
    score = min(10.0, max(1.0, float(gate.get("quality_score") or 0.0)))
    passed = bool(gate.get("valid", not issues))
    return {
        "action": "proceed",
        "rationale": f"The gate of {phase} passed."
        if passed
        else f"The gate of {phase} found: {'; '.join(issues)}. Going on: the same material would give the same answer.",
        "quality_assessment": {
            "score": score,
            "strengths": _strengths(material.get("metrics") or {}),
            "weaknesses": issues,
        },
        "guidance": None,
    }


def _strengths(metrics: Mapping[str, Any]) -> list[str]:
    """The counts that the phase reports and that are not zero, in the order given."""
    return [
        f"{name.replace('_', ' ')}: {value}"
        for name, value in metrics.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and value
    ]

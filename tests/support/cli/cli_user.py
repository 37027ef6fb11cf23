"""A user at the command line with a small library of tide-mill documents."""

from __future__ import annotations

from pathlib import Path

from tests.support.cli.cli_process import User, new_user

QUESTION = "How do tide mills store water, and how much power did they give?"

DOCUMENTS = {
    "mills.md": (
        "# Tide mills\n\nTide mills store water at high tide in a pond behind a dam. The gates of the pond close by "
        "themselves when the tide turns. At low tide the miller lets the water run out over the wheel.\n\n"
        "## Power\n\nA large tide mill on the coast gave about 40 kilowatts of power in 1850. Most small mills gave "
        "less than ten kilowatts of power.\n"
    ),
    "history.txt": (
        "The oldest tide mill was built in the year 619 on an island in a lough. Its pond stored water behind a dam "
        "of stone and clay. Monks ran the tide mill for about a century.\n\n"
        "Tide mills ground grain twice a day, whenever the sea had left the gate. A millpond of two hectares stored "
        "enough water for four hours of grinding.\n"
    ),
    "power.html": (
        "<html><head><title>Power of the tides</title></head><body><h1>Power of the tides</h1>"
        "<p>Tide mills gave power for about three hours after each high tide. The power of a tide mill depends on "
        "the area of its pond and on the height of the tide.</p><p>A modern tidal barrage stores water in the same "
        "way, but it drives turbines instead of wheels.</p></body></html>"
    ),
}


def make_user(folder: Path) -> User:
    user = new_user(folder)
    for name, text in DOCUMENTS.items():
        user.write(f"library/{name}", text)
    return user

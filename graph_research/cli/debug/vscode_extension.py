"""`debug --write-extension`: the smallest extension from which VS Code learns how to start the debugger."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from graph_research.app.files import write_atomically
from graph_research.cli.display.output import show

_NAME, _PUBLISHER, _VERSION = "graph-research-debug", "graph-research", "1.0.0"
_TYPE = "graph-research"
_WHEN = (1980, 1, 1, 0, 0, 0)
"""The oldest time that a zip file knows: the same command writes the same bytes."""

_CONTENT_TYPES = """\
<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""
_MANIFEST = f"""\
<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id="{_NAME}" Version="{_VERSION}" Publisher="{_PUBLISHER}"/>
<DisplayName>graph-research</DisplayName>
<Description xml:space="preserve">Debugs graphs of graph-research.</Description>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
</Assets>
</PackageManifest>
"""


def write_extension(file: Path) -> None:
    """Write it to `file`, and say how it is installed. `OutputUnwritable` where that cannot be."""
    write_atomically(file, extension(Path(sys.executable).with_name("graph-research")))
    show(f"{file} written; install it with: code --install-extension {file}")


def extension(command: Path) -> bytes:
    """The extension as a VSIX file: a zip whose manifest names `command` as the debug adapter."""
    files = {
        "[Content_Types].xml": _CONTENT_TYPES.encode(),
        "extension.vsixmanifest": _MANIFEST.encode(),
        "extension/package.json": orjson.dumps(_package(command), option=orjson.OPT_INDENT_2),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _WHEN), data)
    return packed.getvalue()


def _package(command: Path) -> dict[str, Any]:
    return {
        "name": _NAME,
        "displayName": "graph-research",
        "description": "Debugs graphs of graph-research.",
        "publisher": _PUBLISHER,
        "version": _VERSION,
        "license": "MIT",
        "engines": {"vscode": "^1.80.0"},
        "categories": ["Debuggers"],
        "extensionKind": ["workspace"],
        "contributes": {
            "breakpoints": [{"language": "yaml"}],
            "debuggers": [
                {
                    "type": _TYPE,
                    "label": "graph-research",
                    "languages": ["yaml"],
                    "runtime": str(command),
                    "runtimeArgs": ["debug", "--dap"],
                    "configurationAttributes": {"launch": {"properties": ATTRIBUTES}},
                    "initialConfigurations": _INITIAL,
                }
            ],
        },
    }


def _strings(description: str) -> Mapping[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {
    "graph": {"type": "string", "description": "A graph file or name; alone it is run with `input`."},
    "input": {"type": "object", "description": "Input channels of a run of `graph`."},
    "question": {"type": "string", "description": "A question to research."},
    "cwd": {"type": "string", "description": "The folder of relative paths and of a project's own graphs."},
    "runId": {"type": "string", "description": "A stored run to look at or to go on with."},
    "stopOnEntry": {"type": "boolean", "description": "Hold the run before its first node."},
    "stopOnEnd": {"type": "boolean", "description": "Hold the run at its end, from where one can step back."},
    "break": _strings("Breakpoints as the terminal's `break` takes them."),
    "library": _strings("Folders of documents."),
    "llm": _strings("Models for every role, in the order in which they are tried."),
    "role": _strings("ROLE=SPEC, the model of a role."),
    "search": _strings("Search providers."),
    "maxIterations": {"type": "integer", "description": "Rounds at most."},
    "maxSubQueries": {"type": "integer", "description": "Sub-queries of a plan at most."},
    "maxCost": {"type": "number", "description": "Stop when the models have cost this many USD."},
    "maxTokens": {"type": "integer", "description": "Stop when the models used so many tokens."},
    "timeout": {"type": "number", "description": "Stop when the run has gone on for so many seconds."},
    "interactive": {"type": "boolean", "description": "Let `ask` nodes ask."},
    "newRunId": {"type": "string", "description": "The new run's id."},
    "now": {"type": "string", "description": "Fix the clock, such as 2026-01-31T12:00:00Z."},
    "token": {"type": "string", "description": "With `debugServer`: the token that `--listen` printed."},
}
_INITIAL: tuple[Mapping[str, Any], ...] = (
    {
        "name": "This graph",
        "type": _TYPE,
        "request": "launch",
        "cwd": "${workspaceFolder}",
        "graph": "${file}",
        "input": {},
        "stopOnEntry": True,
    },
)

"""The names of spans' attributes: those of OpenTelemetry's GenAI semantic conventions, and those of this program."""

from __future__ import annotations

from enum import StrEnum

CONVENTIONS_VERSION = "0.1.0"
"""The release of https://github.com/open-telemetry/semantic-conventions-genai that the names are taken from."""


class Operation(StrEnum):
    """What a span does, as `gen_ai.operation.name`."""

    RUN = "invoke_workflow"
    CHAT = "chat"
    RETRIEVAL = "retrieval"
    TOOL = "execute_tool"


class Name(StrEnum):
    """An attribute of a span. Those in `CONTENT` are sent only where the user has turned content on."""

    OPERATION = "gen_ai.operation.name"
    RUN_ID = "gen_ai.conversation.id"
    AGENT = "gen_ai.agent.name"
    PROVIDER = "gen_ai.provider.name"
    REQUEST_MODEL = "gen_ai.request.model"
    RESPONSE_MODEL = "gen_ai.response.model"
    MAX_TOKENS = "gen_ai.request.max_tokens"
    OUTPUT_TYPE = "gen_ai.output.type"
    FINISH_REASONS = "gen_ai.response.finish_reasons"
    INPUT_TOKENS = "gen_ai.usage.input_tokens"
    OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
    CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
    DATA_SOURCE = "gen_ai.data_source.id"
    TOOL = "gen_ai.tool.name"
    SERVER_ADDRESS = "server.address"
    SERVER_PORT = "server.port"
    ERROR = "error.type"
    EXCEPTION = "exception.type"
    ERROR_MESSAGE = "exception.message"
    SYSTEM = "gen_ai.system_instructions"
    INPUT = "gen_ai.input.messages"
    OUTPUT = "gen_ai.output.messages"
    QUERY = "gen_ai.retrieval.query.text"
    ARGUMENTS = "gen_ai.tool.call.arguments"

    GRAPH = "graph_research.graph"
    STATUS = "graph_research.run.status"
    NODE = "graph_research.node.path"
    VISIT = "graph_research.node.visit"
    ATTEMPT = "graph_research.node.attempt"
    CALL = "graph_research.call.kind"
    ROLE = "graph_research.model.role"
    TURN = "graph_research.model.turn"
    RESULTS = "graph_research.search.results"
    COST = "graph_research.cost_usd"


CONTENT = frozenset({Name.ERROR_MESSAGE, Name.SYSTEM, Name.INPUT, Name.OUTPUT, Name.QUERY, Name.ARGUMENTS})
"""What people and models wrote, and what could quote it."""

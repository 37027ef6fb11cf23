"""What requests and answers hold. Fields of a request that are not listed are ignored, as those programs send many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from graph_research.app.request import QUESTION_CHARS
from graph_research.jobs.job import Job, JobStatus, ResultRow

DEFAULT_MODEL = "deep_research"
_QUESTION = "How do tidal lagoons change estuaries?"
_STATUS = {
    JobStatus.QUEUED: "queued",
    JobStatus.PROCESSING: "in_progress",
    JobStatus.AWAITING_INPUT: "incomplete",
    JobStatus.COMPLETED: "completed",
    JobStatus.FAILED: "failed",
    JobStatus.CANCELLED: "cancelled",
    JobStatus.EXPIRED: "incomplete",
}
ResponseStatus = Literal["queued", "in_progress", "completed", "failed", "cancelled", "incomplete"]


class Part(BaseModel):
    """A part of a message; only its text counts."""

    text: str = Field("", max_length=QUESTION_CHARS)


class ChatMessage(BaseModel):
    """A message of a conversation."""

    role: str = Field(max_length=64)
    content: str | list[Part]

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else "\n".join(part.text for part in self.content)


class ResponseRequest(BaseModel):
    """The question is `input`, or the last message of the user in it. In the `background` it is answered at once with a
    response that is queued."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"model": DEFAULT_MODEL, "input": _QUESTION, "background": True}]}
    )

    model: str = Field(DEFAULT_MODEL, min_length=1, max_length=128)
    input: str | list[ChatMessage] = Field(max_length=QUESTION_CHARS)
    background: bool = False
    stream: bool = False


class ChatRequest(BaseModel):
    """The question is the last message of the user."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"model": DEFAULT_MODEL, "messages": [{"role": "user", "content": _QUESTION}]}]}
    )

    model: str = Field(DEFAULT_MODEL, min_length=1, max_length=128)
    messages: list[ChatMessage] = Field(min_length=1, max_length=10_000)
    stream: bool = False


class Model(BaseModel):
    """A graph."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "graph-research"


class ModelList(BaseModel):
    """The graphs that the operator offers."""

    object: Literal["list"] = "list"
    data: list[Model]


class OutputText(BaseModel):
    """A text of a response."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: list[Any] = []


class OutputMessage(BaseModel):
    """The report as a message."""

    id: str
    type: Literal["message"] = "message"
    status: Literal["completed"] = "completed"
    role: Literal["assistant"] = "assistant"
    content: list[OutputText]


class ResponseError(BaseModel):
    """Why a response failed."""

    code: str
    message: str


class ResponseUsage(BaseModel):
    """Tokens that models took."""

    input_tokens: int
    output_tokens: int
    total_tokens: int


class Response(BaseModel):
    """A job as a response: `output` has the report once it is completed."""

    id: str
    object: Literal["response"] = "response"
    created_at: int
    status: ResponseStatus
    model: str
    background: bool
    output: list[OutputMessage]
    error: ResponseError | None
    usage: ResponseUsage | None

    @classmethod
    def of(cls, job: Job, result: ResultRow | None, *, background: bool = True) -> Response:
        fields: dict[str, Any] = {"status": _STATUS[job.status], "model": job.request["run"]["graph"]}
        return cls(
            id=job.id,
            created_at=int(job.created_at.timestamp()),
            background=background,
            output=[message_of(job.id, result.markdown)] if result else [],
            error=job.error and ResponseError(code=job.error.code, message=job.error.message),
            usage=usage_of(result) if result else None,
            **fields,
        )


class ChatUsage(BaseModel):
    """Tokens that models took."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatAnswer(BaseModel):
    """The report as a message."""

    role: Literal["assistant"] = "assistant"
    content: str


class Choice(BaseModel):
    """The answer."""

    index: int = 0
    message: ChatAnswer
    finish_reason: Literal["stop"] = "stop"


class ChatCompletion(BaseModel):
    """A finished job as the answer of a conversation."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: ChatUsage


def message_of(job_id: str, text: str) -> OutputMessage:
    """The report of a job as a message of its response."""
    return OutputMessage(id=f"msg-{job_id}", content=[OutputText(text=text)])


def usage_of(result: ResultRow) -> ResponseUsage:
    """What the models of a job took."""
    read, written = (int(result.tokens.get(name) or 0) for name in ("input_tokens", "output_tokens"))
    return ResponseUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)


def question_of(messages: Sequence[ChatMessage] | str) -> str:
    """The last message of the user, empty where there is none."""
    if isinstance(messages, str):
        return messages
    return next((message.text for message in reversed(messages) if message.role == "user"), "")

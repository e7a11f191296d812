"""autogen: the model client of OpenAI."""

import base64
import io
import json

import openai
from autogen_core import CancellationToken, FunctionCall, Image
from autogen_core.models import AssistantMessage, FunctionExecutionResult, FunctionExecutionResultMessage, UserMessage
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from PIL import Image as Picture
from pydantic import BaseModel

from cells import BOTH, FORECAST, HELLO, IMAGE, KEY, PARIS, RED, TOO_LONG, URL, USAGE, holds, main, raises, same
from cells import weather_of

MODEL_INFO = {"vision": True, "function_calling": True, "json_output": True, "structured_output": True, "family": "unknown"}


class Forecast(BaseModel):
    city: str
    degrees: int


def get_weather(city: str) -> str:
    return weather_of(city)


TOOL = FunctionTool(get_weather, description="The weather in a city")


def connect(deployment, key=KEY):
    return OpenAIChatCompletionClient(
        model=deployment, base_url=f"{URL}/v1", api_key=key, model_info=MODEL_INFO, max_retries=0, timeout=30
    )


def user(content):
    return [UserMessage(content=content, source="user")]


async def ask(case, messages=None, **more):
    return await connect(case.deployment).create(messages or user(case.prompt), **more)


async def streamed(case, messages=None, **more):
    """Returns the pieces of the text, and the complete text that the client builds."""
    pieces = []
    async for piece in connect(case.deployment).create_stream(messages or user(case.prompt), **more):
        pieces.append(piece)
    return "".join(pieces[:-1]), pieces[-1]


def tokens(reply):
    return (reply.usage.prompt_tokens, reply.usage.completion_tokens)


async def whole(case):
    reply = await ask(case)
    same((reply.content, reply.finish_reason), (HELLO, "stop"))


async def stream(case):
    text, last = await streamed(case)
    same((text, last.content), (HELLO, HELLO))


async def run_tools(case, cities, last):
    question = user(case.prompt)
    reply = await ask(case, question, tools=[TOOL])
    same(all(isinstance(call, FunctionCall) for call in reply.content), True, "whether all are calls")
    same([json.loads(call.arguments)["city"] for call in reply.content], cities, "the cities")
    again = (await streamed(case, question, tools=[TOOL]))[1]
    same([call.arguments for call in again.content], [call.arguments for call in reply.content], "streamed")
    results = [
        FunctionExecutionResult(
            content=weather_of(json.loads(call.arguments)["city"]), call_id=call.id, name=call.name, is_error=False
        )
        for call in reply.content
    ]
    asked = AssistantMessage(content=reply.content, source="assistant")
    told = await ask(case, [*question, asked, FunctionExecutionResultMessage(content=results)], tools=[TOOL])
    same(told.content, last)


async def tools(case):
    await run_tools(case, ["Paris"], PARIS)


async def parallel(case):
    await run_tools(case, ["Paris", "Oslo"], BOTH)


async def structured(case):
    same(json.loads((await ask(case, json_output=Forecast)).content), FORECAST)


async def image(case):
    picture = Image(Picture.open(io.BytesIO(base64.b64decode(IMAGE))))
    same((await ask(case, user([case.prompt, picture]))).content, RED)


async def usage(case):
    same(tokens(await ask(case)), USAGE, "usage")
    asked = {"stream_options": {"include_usage": True}}
    same(tokens((await streamed(case, extra_create_args=asked))[1]), USAGE, "usage of the stream")


async def errors(case):
    for call in (ask, streamed):
        holds(await raises(openai.BadRequestError, call, case), TOO_LONG)
    await raises(openai.AuthenticationError, connect(case.deployment, "wrong").create, user(case.prompt))
    await raises(openai.NotFoundError, connect("none").create, user(case.prompt))
    await raises(openai.PermissionDeniedError, connect("staff").create, user(case.prompt))
    await raises(openai.RateLimitError, connect("busy").create, user(case.prompt))


async def cancel(case):
    token = CancellationToken()
    pieces = connect(case.deployment).create_stream(user(case.prompt), cancellation_token=token)
    async for _ in pieces:
        token.cancel()
        break
    await pieces.aclose()


main(
    (
        "autogen",
        {
            "whole": whole,
            "stream": stream,
            "tools": tools,
            "parallel": parallel,
            "structured": structured,
            "image": image,
            "usage": usage,
            "errors": errors,
            "cancel": cancel,
        },
    )
)

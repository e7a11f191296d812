"""anthropic: the Messages API."""

import anthropic
from anthropic import AsyncAnthropic
from pydantic import BaseModel

from cells import (BOTH, FORECAST, HELLO, IMAGE, KEY, PARIS, RED, TOO_LONG, URL, USAGE, WEATHER_PARAMETERS, holds, main,
                   raises, same, weather_of)

WEATHER = {"name": "get_weather", "description": "The weather in a city", "input_schema": WEATHER_PARAMETERS}


class Forecast(BaseModel):
    city: str
    degrees: int


def connect(key=KEY):
    return AsyncAnthropic(base_url=f"{URL}/anthropic", api_key=key, max_retries=0, timeout=30)


def user(content):
    return [{"role": "user", "content": content}]


async def ask(case, messages=None, **more):
    return await connect().messages.create(
        model=case.deployment, max_tokens=1000, messages=messages or user(case.prompt), **more
    )


async def whole(case):
    reply = await ask(case)
    same([block.text for block in reply.content], [HELLO])
    same(reply.stop_reason, "end_turn", "stop_reason")
    # Frameworks with this client write null for absent fields.
    empty = dict.fromkeys(["tool_choice", "system", "thinking", "temperature", "metadata", "stop_sequences"])
    reply = await ask(case, extra_body=empty)
    same([block.text for block in reply.content], [HELLO], "the reply to fields that are null")


async def stream(case):
    text = ""
    async with connect().messages.stream(
        model=case.deployment, max_tokens=1000, messages=user(case.prompt)
    ) as events:
        async for piece in events.text_stream:
            text += piece
        last = await events.get_final_message()
    same(text, HELLO)
    same(last.stop_reason, "end_turn", "stop_reason")


async def run_tools(case, cities, last):
    messages = user(case.prompt)
    reply = await ask(case, messages, tools=[WEATHER])
    same(reply.stop_reason, "tool_use", "stop_reason")
    calls = [block for block in reply.content if block.type == "tool_use"]
    same([call.input["city"] for call in calls], cities, "the cities")
    async with connect().messages.stream(
        model=case.deployment, max_tokens=1000, messages=messages, tools=[WEATHER]
    ) as events:
        streamed = await events.get_final_message()
    same([block.input for block in streamed.content if block.type == "tool_use"], [c.input for c in calls], "streamed")
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": weather_of(call.input["city"])} for call in calls
    ]
    answered = [*messages, {"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]
    told = await ask(case, answered, tools=[WEATHER])
    same([block.text for block in told.content], [last])


async def tools(case):
    await run_tools(case, ["Paris"], PARIS)


async def parallel(case):
    await run_tools(case, ["Paris", "Oslo"], BOTH)


async def structured(case):
    reply = await connect().messages.parse(
        model=case.deployment, max_tokens=1000, messages=user(case.prompt), output_format=Forecast
    )
    same(reply.parsed_output.model_dump(), FORECAST)


async def image(case):
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}}
    reply = await ask(case, user([picture, {"type": "text", "text": case.prompt}]))
    same([block.text for block in reply.content], [RED])


async def usage(case):
    told = (await ask(case)).usage
    same((told.input_tokens, told.output_tokens), USAGE, "usage")
    async with connect().messages.stream(
        model=case.deployment, max_tokens=1000, messages=user(case.prompt)
    ) as events:
        told = (await events.get_final_message()).usage
    same((told.input_tokens, told.output_tokens), USAGE, "usage of the stream")


async def errors(case):
    for more in ({}, {"stream": True}):
        refused = await raises(anthropic.BadRequestError, lambda more=more: ask(case, **more))
        holds(refused.message, TOO_LONG)
        same(refused.type, "invalid_request_error", "type")

    def create(model, key=KEY):
        return lambda: connect(key).messages.create(model=model, max_tokens=1000, messages=user(case.prompt))

    await raises(anthropic.AuthenticationError, create(case.deployment, "wrong"))
    await raises(anthropic.NotFoundError, create("none"))
    await raises(anthropic.PermissionDeniedError, create("staff"))
    await raises(anthropic.RateLimitError, create("busy"))


async def cancel(case):
    async with connect().messages.stream(
        model=case.deployment, max_tokens=1000, messages=user(case.prompt)
    ) as events:
        async for _ in events.text_stream:
            break


main(
    (
        "anthropic",
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

"""openai: the default client, the Azure client, and the default client with the v1 URL of Azure."""

import json

import openai
from openai import AsyncAzureOpenAI, AsyncOpenAI
from pydantic import BaseModel

from cells import (BOTH, FORECAST, HELLO, IMAGE_URL, KEY, PARIS, RED, TOO_LONG, URL, USAGE, WEATHER, holds, main, raises,
                   same, weather_of)


class Forecast(BaseModel):
    city: str
    degrees: int


def plain(key=KEY):
    return AsyncOpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0, timeout=30)


def azure(key=KEY):
    return AsyncAzureOpenAI(
        azure_endpoint=URL, api_version="2024-10-21", api_key=key, max_retries=0, timeout=30
    )


def azure_v1(key=KEY):
    return AsyncOpenAI(
        base_url=f"{URL}/openai/v1", api_key=key, default_query={"api-version": "preview"}, max_retries=0, timeout=30
    )


def user(text):
    return [{"role": "user", "content": text}]


def cells_of(connect, code_of_unknown):
    async def ask(case, messages=None, **more):
        return await connect().chat.completions.create(
            model=case.deployment, messages=messages or user(case.prompt), **more
        )

    async def whole(case):
        reply = await ask(case)
        same(reply.choices[0].message.content, HELLO)
        same(reply.choices[0].finish_reason, "stop", "finish_reason")

    async def stream(case):
        text, reasons, bare = "", [], 0
        async for chunk in await ask(case, stream=True):
            # Only streams on deployment paths can end with a chunk without choices.
            bare += not chunk.choices
            if chunk.choices:
                text += chunk.choices[0].delta.content or ""
                reasons += [chunk.choices[0].finish_reason] if chunk.choices[0].finish_reason else []
        same(text, HELLO)
        same(reasons, ["stop"], "finish_reason")
        same(bare if connect is not azure else 0, 0, "the number of chunks without choices")

    async def run_tools(case, cities, last):
        messages = user(case.prompt)
        reply = await ask(case, messages, tools=[WEATHER])
        same(reply.choices[0].finish_reason, "tool_calls", "finish_reason")
        calls = reply.choices[0].message.tool_calls
        same([json.loads(call.function.arguments)["city"] for call in calls], cities, "the cities")
        streamed = []
        async with connect().chat.completions.stream(
            model=case.deployment, messages=messages, tools=[WEATHER]
        ) as events:
            async for _ in events:
                pass
            streamed = (await events.get_final_completion()).choices[0].message.tool_calls
        same([call.function.arguments for call in streamed], [call.function.arguments for call in calls], "streamed")
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": weather_of(json.loads(call.function.arguments)["city"])}
            for call in calls
        ]
        told = await ask(case, [*messages, reply.choices[0].message, *results], tools=[WEATHER])
        same(told.choices[0].message.content, last)

    async def tools(case):
        await run_tools(case, ["Paris"], PARIS)

    async def parallel(case):
        await run_tools(case, ["Paris", "Oslo"], BOTH)

    async def structured(case):
        reply = await connect().chat.completions.parse(
            model=case.deployment, messages=user(case.prompt), response_format=Forecast
        )
        same(reply.choices[0].message.parsed.model_dump(), FORECAST)

    async def image(case):
        picture = {"type": "image_url", "image_url": {"url": IMAGE_URL}}
        content = [{"type": "text", "text": case.prompt}, picture]
        reply = await ask(case, [{"role": "user", "content": content}])
        same(reply.choices[0].message.content, RED)

    async def usage(case):
        told = (await ask(case)).usage
        same((told.prompt_tokens, told.completion_tokens), USAGE, "usage")
        last = None
        async for chunk in await ask(case, stream=True, stream_options={"include_usage": True}):
            last = chunk
        same((last.usage.prompt_tokens, last.usage.completion_tokens), USAGE, "usage of the last chunk")
        # The usage of the upstream counts, regardless of the client's options.
        counted = None
        async for chunk in await ask(case, stream=True, stream_options={}):
            counted = (chunk.model_extra or {}).get("statistics") or counted
        same([each["prompt_tokens"] for each in counted["usage_per_model"]], [USAGE[0]], "the statistics without being asked")

    async def errors(case):
        for more in ({}, {"stream": True}):
            refused = await raises(openai.BadRequestError, lambda more=more: ask(case, **more))
            holds(refused.message, TOO_LONG)
            if case.deployment != "claude":  # the other dialect has no codes
                same(refused.code, "context_length_exceeded", "code")
        create = connect("wrong").chat.completions.create
        unknown_key = await raises(
            openai.AuthenticationError, lambda: create(model=case.deployment, messages=user(case.prompt))
        )
        same(unknown_key.code, "invalid_api_key", "code")
        create = connect().chat.completions.create
        unknown = await raises(openai.NotFoundError, lambda: create(model="none", messages=user(case.prompt)))
        same(unknown.code, code_of_unknown, "code")
        await raises(openai.PermissionDeniedError, lambda: create(model="staff", messages=user(case.prompt)))
        busy = await raises(openai.RateLimitError, lambda: create(model="busy", messages=user(case.prompt)))
        same(int(busy.response.headers["retry-after"]) >= 1, True, "whether it says when to try again")
        wrong = await raises(openai.BadRequestError, lambda: ask(case, temperature=3))
        same(wrong.param, "temperature", "param")

    async def cancel(case):
        reply = await ask(case, stream=True)
        async for chunk in reply:
            if chunk.choices and chunk.choices[0].delta.content:
                break
        await reply.close()

    return {
        "whole": whole,
        "stream": stream,
        "tools": tools,
        "parallel": parallel,
        "structured": structured,
        "image": image,
        "usage": usage,
        "errors": errors,
        "cancel": cancel,
    }


main(
    ("openai", cells_of(plain, "model_not_found")),
    ("openai Azure", cells_of(azure, "DeploymentNotFound")),
    ("openai Azure v1", cells_of(azure_v1, "model_not_found")),
)

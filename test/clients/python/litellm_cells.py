"""litellm: the SDK with the OpenAI and Azure chat completions."""

import json
import os

# Prices come from the package instead of the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from pydantic import BaseModel

from cells import BOTH, FORECAST, HELLO, IMAGE_URL, KEY, PARIS, RED, TOO_LONG, URL, USAGE, WEATHER, holds, main, raises
from cells import same, weather_of

litellm.suppress_debug_info = True


class Forecast(BaseModel):
    city: str
    degrees: int


def plain(deployment, key=KEY):
    return {"model": f"openai/{deployment}", "api_base": f"{URL}/v1", "api_key": key, "max_retries": 0, "timeout": 30}


def azure(deployment, key=KEY):
    return {
        "model": f"azure/{deployment}",
        "api_base": URL,
        "api_version": "2024-10-21",
        "api_key": key,
        "max_retries": 0,
        "timeout": 30,
    }


def user(text):
    return [{"role": "user", "content": text}]


def tokens(reply):
    return (reply.usage.prompt_tokens, reply.usage.completion_tokens)


def cells_of(connect):
    async def ask(case, messages=None, **more):
        return await litellm.acompletion(**connect(case.deployment), messages=messages or user(case.prompt), **more)

    async def streamed(case, messages=None, **more):
        """Returns the complete reply as litellm builds it."""
        chunks = [chunk async for chunk in await ask(case, messages, stream=True, **more)]
        return litellm.stream_chunk_builder(chunks)

    async def whole(case):
        same((await ask(case)).choices[0].message.content, HELLO)

    async def stream(case):
        same((await streamed(case)).choices[0].message.content, HELLO)

    async def run_tools(case, cities, last):
        question = user(case.prompt)
        asked = (await ask(case, question, tools=[WEATHER])).choices[0].message
        calls = asked.tool_calls or []
        same([json.loads(call.function.arguments)["city"] for call in calls], cities, "the cities")
        again = (await streamed(case, question, tools=[WEATHER])).choices[0].message.tool_calls
        same([call.function.arguments for call in again], [call.function.arguments for call in calls], "streamed")
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": weather_of(json.loads(call.function.arguments)["city"])}
            for call in calls
        ]
        told = await ask(case, [*question, asked, *results], tools=[WEATHER])
        same(told.choices[0].message.content, last)

    async def tools(case):
        await run_tools(case, ["Paris"], PARIS)

    async def parallel(case):
        await run_tools(case, ["Paris", "Oslo"], BOTH)

    async def structured(case):
        # litellm detects structured output by model name, and does not know deployment names.
        reply = await ask(case, response_format=Forecast, allowed_openai_params=["response_format"])
        same(json.loads(reply.choices[0].message.content), FORECAST)

    async def image(case):
        content = [{"type": "text", "text": case.prompt}, {"type": "image_url", "image_url": {"url": IMAGE_URL}}]
        same((await ask(case, [{"role": "user", "content": content}])).choices[0].message.content, RED)

    async def usage(case):
        same(tokens(await ask(case)), USAGE, "usage")
        same(tokens(await streamed(case, stream_options={"include_usage": True})), USAGE, "usage of the stream")

    async def errors(case):
        for call in (ask, streamed):
            holds(await raises(litellm.BadRequestError, call, case), TOO_LONG)

        def create(deployment, key=KEY):
            return lambda: litellm.acompletion(**connect(deployment, key), messages=user(case.prompt))

        await raises(litellm.AuthenticationError, create(case.deployment, "wrong"))
        await raises(litellm.NotFoundError, create("none"))
        same((await raises(litellm.APIError, create("staff"))).status_code, 403, "the status")
        await raises(litellm.RateLimitError, create("busy"))

    async def cancel(case):
        chunks = await ask(case, stream=True)
        async for chunk in chunks:
            if chunk.choices[0].delta.content:
                break
        await chunks.aclose()

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


main(("litellm", cells_of(plain)), ("litellm Azure", cells_of(azure)))

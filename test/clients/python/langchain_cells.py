"""langchain: ChatOpenAI, AzureChatOpenAI, and ChatAnthropic."""

import anthropic
import openai
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from pydantic import BaseModel

from cells import (BOTH, FORECAST, HELLO, IMAGE, KEY, PARIS, RED, TOO_LONG, URL, USAGE, holds, main, raises, same,
                   weather_of)


class Forecast(BaseModel):
    """The weather of a city."""

    city: str
    degrees: int


@tool
def get_weather(city: str) -> str:
    """The weather in a city"""
    return weather_of(city)


def plain(deployment, key=KEY):
    return ChatOpenAI(model=deployment, base_url=f"{URL}/v1", api_key=key, max_retries=0, timeout=30, stream_usage=True)


def azure(deployment, key=KEY):
    return AzureChatOpenAI(
        azure_endpoint=URL,
        azure_deployment=deployment,
        api_version="2024-10-21",
        api_key=key,
        max_retries=0,
        timeout=30,
        stream_usage=True,
    )


def messages(deployment, key=KEY):
    return ChatAnthropic(
        model=deployment, base_url=f"{URL}/anthropic", api_key=key, max_retries=0, timeout=30, max_tokens=1000
    )


def tokens(message):
    return (message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"])


async def streamed(model, prompt):
    total = None
    async for chunk in model.astream(prompt):
        total = chunk if total is None else total + chunk
    return total


def cells_of(connect, kinds):
    async def whole(case):
        same((await connect(case.deployment).ainvoke(case.prompt)).text, HELLO)

    async def stream(case):
        same((await streamed(connect(case.deployment), case.prompt)).text, HELLO)

    async def run_tools(case, cities, last):
        model = connect(case.deployment).bind_tools([get_weather])
        question = HumanMessage(case.prompt)
        asked = await model.ainvoke([question])
        same([call["args"]["city"] for call in asked.tool_calls], cities, "the cities")
        again = await streamed(model, [question])
        same([call["args"] for call in again.tool_calls], [call["args"] for call in asked.tool_calls], "streamed")
        results = [ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"]) for call in asked.tool_calls]
        same((await model.ainvoke([question, asked, *results])).text, last)

    async def tools(case):
        await run_tools(case, ["Paris"], PARIS)

    async def parallel(case):
        await run_tools(case, ["Paris", "Oslo"], BOTH)

    async def structured(case):
        reply = await connect(case.deployment).with_structured_output(Forecast).ainvoke(case.prompt)
        same(reply.model_dump(), FORECAST)

    async def image(case):
        picture = {"type": "image", "base64": IMAGE, "mime_type": "image/png"}
        question = HumanMessage(content=[{"type": "text", "text": case.prompt}, picture])
        same((await connect(case.deployment).ainvoke([question])).text, RED)

    async def usage(case):
        model = connect(case.deployment)
        same(tokens(await model.ainvoke(case.prompt)), USAGE, "usage")
        same(tokens(await streamed(model, case.prompt)), USAGE, "usage of the stream")

    async def errors(case):
        model = connect(case.deployment)
        for call in (model.ainvoke, lambda prompt: streamed(model, prompt)):
            holds(await raises(kinds.BadRequestError, call, case.prompt), TOO_LONG)
        await raises(kinds.AuthenticationError, connect(case.deployment, "wrong").ainvoke, case.prompt)
        await raises(kinds.NotFoundError, connect("none").ainvoke, case.prompt)
        await raises(kinds.PermissionDeniedError, connect("staff").ainvoke, case.prompt)
        await raises(kinds.RateLimitError, connect("busy").ainvoke, case.prompt)

    async def cancel(case):
        chunks = connect(case.deployment).astream(case.prompt)
        async for chunk in chunks:
            if chunk.text:
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


main(
    ("langchain OpenAI", cells_of(plain, openai)),
    ("langchain Azure", cells_of(azure, openai)),
    ("langchain Anthropic", cells_of(messages, anthropic)),
)

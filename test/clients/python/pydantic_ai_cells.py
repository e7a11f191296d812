"""pydantic-ai: agents with the OpenAI chat completions and the Anthropic Messages API."""

import base64

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, ModelHTTPError, NativeOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from cells import BOTH, FORECAST, HELLO, IMAGE, KEY, PARIS, RED, TOO_LONG, URL, USAGE, holds, main, raises, same
from cells import weather_of

called = []


class Forecast(BaseModel):
    city: str
    degrees: int


def get_weather(city: str) -> str:
    """The weather in a city"""
    called.append(city)
    return weather_of(city)


def chat(deployment, key=KEY):
    client = AsyncOpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0, timeout=30)
    return OpenAIChatModel(deployment, provider=OpenAIProvider(openai_client=client))


def messages(deployment, key=KEY):
    client = AsyncAnthropic(base_url=f"{URL}/anthropic", api_key=key, max_retries=0, timeout=30)
    return AnthropicModel(deployment, provider=AnthropicProvider(anthropic_client=client))


async def streamed(agent, prompt):
    async with agent.run_stream(prompt) as run:
        text = ""
        async for piece in run.stream_text(delta=True):
            text += piece
        return text, run.usage


def cells_of(connect):
    def agent(case, **more):
        return Agent(connect(case.deployment), **more)

    async def whole(case):
        same((await agent(case).run(case.prompt)).output, HELLO)

    async def stream(case):
        same((await streamed(agent(case), case.prompt))[0], HELLO)

    async def run_tools(case, cities, last):
        called.clear()
        same((await agent(case, tools=[get_weather]).run(case.prompt)).output, last)
        same(sorted(called), sorted(cities), "the cities")
        called.clear()
        same((await streamed(agent(case, tools=[get_weather]), case.prompt))[0], last)
        same(sorted(called), sorted(cities), "the cities of the stream")

    async def tools(case):
        await run_tools(case, ["Paris"], PARIS)

    async def parallel(case):
        await run_tools(case, ["Paris", "Oslo"], BOTH)

    async def structured(case):
        # With a tool, which is the default, and with a response format if the model profile
        # supports it.
        same((await agent(case, output_type=Forecast).run(case.prompt)).output.model_dump(), FORECAST)
        if connect is chat:
            native = await agent(case, output_type=NativeOutput(Forecast)).run(case.prompt)
            same(native.output.model_dump(), FORECAST)

    async def image(case):
        picture = BinaryContent(data=base64.b64decode(IMAGE), media_type="image/png")
        same((await agent(case).run([case.prompt, picture])).output, RED)

    async def usage(case):
        told = (await agent(case).run(case.prompt)).usage
        same((told.input_tokens, told.output_tokens), USAGE, "usage")
        told = (await streamed(agent(case), case.prompt))[1]
        same((told.input_tokens, told.output_tokens), USAGE, "usage of the stream")

    async def errors(case):
        for call in (agent(case).run, lambda prompt: streamed(agent(case), prompt)):
            refused = await raises(ModelHTTPError, call, case.prompt)
            same(refused.status_code, 400, "the status")
            holds(refused.body, TOO_LONG)
        for model, status in [
            (connect(case.deployment, "wrong"), 401),
            (connect("none"), 404),
            (connect("staff"), 403),
            (connect("busy"), 429),
        ]:
            same((await raises(ModelHTTPError, Agent(model).run, case.prompt)).status_code, status, "the status")

    async def cancel(case):
        async with agent(case).run_stream(case.prompt) as run:
            async for _ in run.stream_text(delta=True):
                break

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


main(("pydantic-ai OpenAI", cells_of(chat)), ("pydantic-ai Anthropic", cells_of(messages)))

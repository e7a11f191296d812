"""openai-agents: agents with the chat completions model."""

import openai
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from agents.model_settings import ModelSettings
from openai import AsyncOpenAI
from pydantic import BaseModel

from cells import BOTH, FORECAST, HELLO, IMAGE_URL, KEY, PARIS, RED, TOO_LONG, URL, USAGE, holds, main, raises, same
from cells import weather_of

set_tracing_disabled(True)

called = []


class Forecast(BaseModel):
    city: str
    degrees: int


@function_tool
def get_weather(city: str) -> str:
    """The weather in a city"""
    called.append(city)
    return weather_of(city)


def agent(deployment, key=KEY, **more):
    client = AsyncOpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0, timeout=30)
    settings = ModelSettings(include_usage=True)
    model = OpenAIChatCompletionsModel(model=deployment, openai_client=client)
    return Agent(name="helper", model=model, model_settings=settings, **more)


async def streamed(which, prompt):
    run = Runner.run_streamed(which, prompt)
    text = ""
    async for event in run.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            text += event.data.delta
    return text, run


async def whole(case):
    same((await Runner.run(agent(case.deployment), case.prompt)).final_output, HELLO)


async def stream(case):
    text, run = await streamed(agent(case.deployment), case.prompt)
    same(text, HELLO, "the deltas")
    same(run.final_output, HELLO)


async def run_tools(case, cities, last):
    which = agent(case.deployment, tools=[get_weather])
    called.clear()
    same((await Runner.run(which, case.prompt)).final_output, last)
    same(sorted(called), sorted(cities), "the cities")
    called.clear()
    same((await streamed(which, case.prompt))[1].final_output, last)
    same(sorted(called), sorted(cities), "the cities of the stream")


async def tools(case):
    await run_tools(case, ["Paris"], PARIS)


async def parallel(case):
    await run_tools(case, ["Paris", "Oslo"], BOTH)


async def structured(case):
    reply = await Runner.run(agent(case.deployment, output_type=Forecast), case.prompt)
    same(reply.final_output.model_dump(), FORECAST)


async def image(case):
    content = [
        {"type": "input_text", "text": case.prompt},
        {"type": "input_image", "image_url": IMAGE_URL, "detail": "auto"},
    ]
    reply = await Runner.run(agent(case.deployment), [{"role": "user", "content": content}])
    same(reply.final_output, RED)


async def usage(case):
    told = (await Runner.run(agent(case.deployment), case.prompt)).context_wrapper.usage
    same((told.input_tokens, told.output_tokens), USAGE, "usage")
    told = (await streamed(agent(case.deployment), case.prompt))[1].context_wrapper.usage
    same((told.input_tokens, told.output_tokens), USAGE, "usage of the stream")


async def errors(case):
    which = agent(case.deployment)
    for call in (Runner.run, streamed):
        holds(await raises(openai.BadRequestError, call, which, case.prompt), TOO_LONG)
    await raises(openai.AuthenticationError, Runner.run, agent(case.deployment, "wrong"), case.prompt)
    await raises(openai.NotFoundError, Runner.run, agent("none"), case.prompt)
    await raises(openai.PermissionDeniedError, Runner.run, agent("staff"), case.prompt)
    await raises(openai.RateLimitError, Runner.run, agent("busy"), case.prompt)


async def cancel(case):
    run = Runner.run_streamed(agent(case.deployment), case.prompt)
    async for event in run.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            run.cancel()


main(
    (
        "openai-agents",
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

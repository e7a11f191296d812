"""llama-index: OpenAILike, and AzureOpenAI on the deployment paths."""


import openai
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.llms import MessageRole
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.azure_openai import AzureOpenAI
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

from cells import BOTH, FORECAST, HELLO, IMAGE, KEY, PARIS, RED, TOO_LONG, URL, USAGE, holds, main, raises, same
from cells import weather_of


class Forecast(BaseModel):
    """The weather of a city."""

    city: str
    degrees: int


def get_weather(city: str) -> str:
    """The weather in a city"""
    return weather_of(city)


TOOL = FunctionTool.from_defaults(fn=get_weather)


def like(deployment, key=KEY, **more):
    return OpenAILike(
        model=deployment,
        api_base=f"{URL}/v1",
        api_key=key,
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
        timeout=30,
        **more,
    )


def azure(deployment, key=KEY, **more):
    return AzureOpenAI(
        model="gpt-4o",
        engine=deployment,
        azure_endpoint=URL,
        api_version="2024-10-21",
        api_key=key,
        max_retries=0,
        timeout=30,
        **more,
    )


def user(text):
    return [ChatMessage(role=MessageRole.USER, content=text)]


def tokens(reply):
    usage = reply.raw["usage"] if isinstance(reply.raw, dict) else reply.raw.usage
    return (usage.prompt_tokens, usage.completion_tokens)


async def last_of(pieces):
    last = None
    async for piece in pieces:
        last = piece
    return last


def cells_of(connect):
    async def whole(case):
        same((await connect(case.deployment).achat(user(case.prompt))).message.content, HELLO)

    async def stream(case):
        text = ""
        async for piece in await connect(case.deployment).astream_chat(user(case.prompt)):
            text += piece.delta or ""
        same(text, HELLO)

    async def run_tools(case, cities, last):
        model = connect(case.deployment)
        question = user(case.prompt)
        reply = await model.achat_with_tools([TOOL], chat_history=question, allow_parallel_tool_calls=True)
        calls = model.get_tool_calls_from_response(reply)
        same([call.tool_kwargs["city"] for call in calls], cities, "the cities")
        again = await last_of(
            await model.astream_chat_with_tools([TOOL], chat_history=question, allow_parallel_tool_calls=True)
        )
        streamed = [call.tool_kwargs["city"] for call in model.get_tool_calls_from_response(again)]
        same(streamed, cities, "the cities of the stream")
        results = [
            ChatMessage(
                role=MessageRole.TOOL,
                content=weather_of(call.tool_kwargs["city"]),
                additional_kwargs={"tool_call_id": call.tool_id, "name": call.tool_name},
            )
            for call in calls
        ]
        told = await model.achat_with_tools([TOOL], chat_history=[*question, reply.message, *results])
        same(told.message.content, last)

    async def tools(case):
        await run_tools(case, ["Paris"], PARIS)

    async def parallel(case):
        await run_tools(case, ["Paris", "Oslo"], BOTH)

    async def structured(case):
        # With a forced tool.
        reply = await connect(case.deployment).astructured_predict(Forecast, PromptTemplate("{text}"), text=case.prompt)
        same(reply.model_dump(), FORECAST)

    async def image(case):
        blocks = [TextBlock(text=case.prompt), ImageBlock(image=IMAGE.encode(), image_mimetype="image/png")]
        reply = await connect(case.deployment).achat([ChatMessage(role=MessageRole.USER, blocks=blocks)])
        same(reply.message.content, RED)

    async def usage(case):
        same(tokens(await connect(case.deployment).achat(user(case.prompt))), USAGE, "usage")
        model = connect(case.deployment, additional_kwargs={"stream_options": {"include_usage": True}})
        same(tokens(await last_of(await model.astream_chat(user(case.prompt)))), USAGE, "usage of the stream")

    async def errors(case):
        async def streamed():
            return await last_of(await connect(case.deployment).astream_chat(user(case.prompt)))

        chat = connect(case.deployment).achat
        for call in (lambda: chat(user(case.prompt)), streamed):
            holds(await raises(openai.BadRequestError, call), TOO_LONG)
        await raises(openai.AuthenticationError, connect(case.deployment, "wrong").achat, user(case.prompt))
        await raises(openai.NotFoundError, connect("none").achat, user(case.prompt))
        await raises(openai.PermissionDeniedError, connect("staff").achat, user(case.prompt))
        await raises(openai.RateLimitError, connect("busy").achat, user(case.prompt))

    async def cancel(case):
        pieces = await connect(case.deployment).astream_chat(user(case.prompt))
        async for piece in pieces:
            if piece.delta:
                break
        await pieces.aclose()

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


main(("llama-index OpenAILike", cells_of(like)), ("llama-index Azure", cells_of(azure)))

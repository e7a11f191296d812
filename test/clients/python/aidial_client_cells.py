"""aidial-client: chat completions on the deployment paths, listings, and stored files."""

import json

from aidial_client import AsyncDial, DialException

from cells import BOTH, FORECAST, FORECAST_SCHEMA, HELLO, IMAGE_URL, KEY, PARIS, RED, TOO_LONG, URL, USAGE, WEATHER
from cells import holds, main, raises, same, weather_of


def connect(key=KEY):
    return AsyncDial(api_key=key, base_url=URL, api_version="2024-10-21", max_retries=0, timeout=30)


def user(text):
    return [{"role": "user", "content": text}]


async def ask(case, messages=None, **more):
    return await connect().chat.completions.create(
        deployment_name=case.deployment, messages=messages or user(case.prompt), **more
    )


async def streamed(case, messages=None, **more):
    """Returns the text, the arguments of calls by index, and the last usage."""
    text, calls, usage = "", {}, None
    async for chunk in await ask(case, messages, stream=True, **more):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for call in choice.delta.tool_calls or []:
                calls[call.index] = calls.get(call.index, "") + (call.function.arguments or "")
    return text, list(calls.values()), usage


async def whole(case):
    same((await ask(case, stream=False)).choices[0].message.content, HELLO)
    client = connect()
    same(case.deployment in [each.id for each in await client.deployments.list()], True, "whether it is listed")
    path = await client.my_files_home() / f"clients-{case.deployment}.txt"
    await client.files.upload(path, ("note.txt", b"Hello", "text/plain"))
    same(await (await client.files.download(path)).aget_content(), b"Hello", "the stored file")
    await client.files.delete(path)


async def stream(case):
    same((await streamed(case))[0], HELLO)


async def run_tools(case, cities, last):
    question = user(case.prompt)
    message = (await ask(case, question, stream=False, tools=[WEATHER])).choices[0].message
    calls = message.tool_calls or []
    arguments = [call.function.arguments for call in calls]
    same([json.loads(each)["city"] for each in arguments], cities, "the cities")
    same((await streamed(case, question, tools=[WEATHER]))[1], arguments, "streamed")
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in calls
        ],
    }
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": weather_of(json.loads(call.function.arguments)["city"])}
        for call in calls
    ]
    told = await ask(case, [*question, asked, *results], stream=False, tools=[WEATHER])
    same(told.choices[0].message.content, last)


async def tools(case):
    await run_tools(case, ["Paris"], PARIS)


async def parallel(case):
    await run_tools(case, ["Paris", "Oslo"], BOTH)


async def structured(case):
    schema = {"name": "forecast", "schema": FORECAST_SCHEMA, "strict": True}
    reply = await ask(case, stream=False, response_format={"type": "json_schema", "json_schema": schema})
    same(json.loads(reply.choices[0].message.content), FORECAST)


async def image(case):
    content = [{"type": "text", "text": case.prompt}, {"type": "image_url", "image_url": {"url": IMAGE_URL}}]
    same((await ask(case, [{"role": "user", "content": content}], stream=False)).choices[0].message.content, RED)


async def usage(case):
    told = (await ask(case, stream=False)).usage
    same((told.prompt_tokens, told.completion_tokens), USAGE, "usage")
    told = (await streamed(case))[2]
    same((told.prompt_tokens, told.completion_tokens), USAGE, "usage of the stream")


async def errors(case):
    for call in (lambda: ask(case, stream=False), lambda: streamed(case)):
        refused = await raises(DialException, call)
        same(refused.status_code, 400, "the status")
        holds(refused.message, TOO_LONG)
        if case.deployment == "sdk":
            same(refused.display_message, "The model cannot answer this.", "display_message")

    def create(deployment, key=KEY):
        return lambda: connect(key).chat.completions.create(
            deployment_name=deployment, messages=user(case.prompt), stream=False
        )

    for call, status in [
        (create(case.deployment, "wrong"), 401),
        (create("none"), 404),
        (create("staff"), 403),
        (create("busy"), 429),
    ]:
        same((await raises(DialException, call)).status_code, status, "the status")


async def cancel(case):
    chunks = await ask(case, stream=True)
    async for chunk in chunks:
        if chunk.choices and chunk.choices[0].delta.content:
            break
    await chunks.aclose()


main(
    (
        "aidial-client",
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

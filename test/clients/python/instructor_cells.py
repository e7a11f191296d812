"""instructor: structured output with a forced tool and with a response format."""

import instructor
import openai
from instructor.core import InstructorRetryException
from instructor.processing.multimodal import Image
from openai import AsyncOpenAI
from pydantic import BaseModel

from cells import FORECAST, IMAGE_URL, KEY, TOO_LONG, URL, USAGE, holds, main, raises, same


class Forecast(BaseModel):
    """The weather of a city."""

    city: str
    degrees: int


def connect(mode, key=KEY):
    client = AsyncOpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0, timeout=30)
    return instructor.from_openai(client, mode=mode)


def cells_of(mode):
    def asking(case, model=None, text=None):
        return {
            "model": model or case.deployment,
            "messages": [{"role": "user", "content": text or case.say("Forecast for Paris.")}],
            "response_model": Forecast,
            "max_retries": 0,
        }

    async def structured(case):
        same((await connect(mode).create(**asking(case))).model_dump(), FORECAST)

    async def stream(case):
        last = None
        async for part in connect(mode).create_partial(**asking(case)):
            last = part
        same(last.model_dump(), FORECAST)

    async def image(case):
        content = [case.say("Forecast for Paris."), Image.from_base64(IMAGE_URL)]
        same((await connect(mode).create(**asking(case, text=content))).model_dump(), FORECAST)

    async def usage(case):
        _, raw = await connect(mode).create_with_completion(**asking(case))
        same((raw.usage.prompt_tokens, raw.usage.completion_tokens), USAGE, "usage")

    async def errors(case):
        async def refused(kind, model=None, key=KEY):
            """Returns the API error that caused the exception of instructor."""
            create = connect(mode, key).create
            thrown = await raises(InstructorRetryException, lambda: create(**asking(case, model, case.prompt)))
            error = thrown.__cause__
            same(type(error), kind, "the class of the error")
            return error

        holds(await refused(openai.BadRequestError), TOO_LONG)
        await refused(openai.AuthenticationError, key="wrong")
        await refused(openai.NotFoundError, "none")
        await refused(openai.PermissionDeniedError, "staff")
        await refused(openai.RateLimitError, "busy")

    return {"stream": stream, "structured": structured, "image": image, "usage": usage, "errors": errors}


main(
    ("instructor tools", cells_of(instructor.Mode.TOOLS)),
    ("instructor JSON schema", cells_of(instructor.Mode.JSON_SCHEMA)),
)

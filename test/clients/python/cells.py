"""Shared code of all programs in this folder: prompts, expectations, and one JSON line for each cell."""

import asyncio
import inspect
import json
import os
import sys

URL = os.environ["PARLEY_URL"]
KEY = os.environ["PARLEY_KEY"]
IMAGE = os.environ["PARLEY_IMAGE"]
IMAGE_URL = f"data:image/png;base64,{IMAGE}"

DEPLOYMENTS = ["gpt", "claude", "sdk", "quick"]

HELLO = "Hello! Grüße, 你好 😀, from the mock."
PARIS = "It is sunny in Paris."
BOTH = "It is sunny in Paris and it rains in Oslo."
RED = "A red square."
FORECAST = {"city": "Paris", "degrees": 21}
USAGE = (11, 13)
TOO_LONG = "Too many tokens."

WEATHER_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {
    "type": "function",
    "function": {"name": "get_weather", "description": "The weather in a city", "parameters": WEATHER_PARAMETERS},
}
FORECAST_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}

PROMPTS = {
    "whole": "Say hello.",
    "stream": "Say hello.",
    "tools": "Weather in Paris?",
    "parallel": "Weather in Paris and Oslo?",
    "structured": "Forecast for Paris.",
    "image": "What is in the picture?",
    "usage": "Say hello.",
    "errors": "Too long.",
    "cancel": "Count slowly.",
}


def weather_of(city):
    """Returns the tool that all programs offer."""
    return {"Paris": "sunny", "Oslo": "rain"}[city]


class Case:
    """One cell of one client and one deployment."""

    def __init__(self, client, deployment, cell):
        self.client, self.deployment, self.cell = client, deployment, cell

    @property
    def prompt(self):
        return self.say(PROMPTS[self.cell])

    def say(self, text):
        return f"{text} ({self.client}/{self.deployment}/{self.cell})"


def same(seen, expected, what="the reply"):
    if seen != expected:
        raise AssertionError(f"{what} is {seen!r}, not {expected!r}")


def holds(text, part, what="the message"):
    if part not in str(text):
        raise AssertionError(f"{what} is {str(text)!r}, without {part!r}")


async def raises(kind, call, *more):
    """Expects the awaitable to fail with this class of error, and returns the error."""
    try:
        result = call(*more)
        if inspect.isawaitable(result):
            result = await result
    except kind as error:
        return error
    except Exception as error:
        raise AssertionError(f"{kind.__name__} was expected, not {type(error).__name__}: {error}") from error
    raise AssertionError(f"{kind.__name__} was expected, not {result!r}")


async def _run_one(run, case):
    try:
        result = run(case)
        seen = await asyncio.wait_for(result, 45) if inspect.isawaitable(result) else result
        return True, "" if seen is None else str(seen)
    except Exception as error:  # every failure of a client is a red cell with its words
        return False, f"{type(error).__name__}: {error}"


async def run_cells(client, cells):
    """Runs each cell with each deployment and prints the results."""
    for deployment in DEPLOYMENTS:
        for cell, run in cells.items():
            case = Case(client, deployment, cell)
            ok, seen = await _run_one(run, case)
            line = {"client": client, "deployment": deployment, "cell": cell, "ok": ok, "seen": seen[:600]}
            print(json.dumps(line), flush=True)


def main(*suites):
    """Runs (client, cells) pairs in sequence, and exits without waiting for library threads."""

    async def run_all():
        for client, cells in suites:
            await run_cells(client, cells)

    asyncio.run(run_all())
    sys.stdout.flush()
    os._exit(0)

"""Runs OpenAI's Python client on the Responses API with the deployments in the arguments. Exits with 1 and a report on failure."""

import os
import sys

from openai import OpenAI
from pydantic import BaseModel

client = OpenAI(base_url=f"{os.environ['PARLEY_URL']}/v1", api_key=os.environ["PARLEY_KEY"], max_retries=0)


class Person(BaseModel):
    name: str
    age: int


def same(seen, expected, what):
    if seen != expected:
        raise AssertionError(f"{what} is {seen!r}, not {expected!r}")


def run(model):
    first = client.responses.create(model=model, input="Say hello")
    same(first.output_text, "Hello from the mock.", "the text")
    with client.responses.stream(model=model, input="Say hello", previous_response_id=first.id) as stream:
        heard = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        same(heard, stream.get_final_response().output_text, "the stream")
    parsed = client.responses.parse(model=model, input="a person", text_format=Person)
    same(parsed.output_parsed, Person(name="Ada", age=36), "the structured output")
    numbers, name = [], ""
    for event in client.responses.create(model=model, input="Say hello", background=True, stream=True):
        numbers.append(event.sequence_number)
        if event.type == "response.created":
            name = event.response.id
        if len(numbers) == 4:
            break
    for event in client.responses.retrieve(name, stream=True, starting_after=numbers[-1]):
        numbers.append(event.sequence_number)
    same(numbers, list(range(len(numbers))), "the numbers of the events")
    same(client.responses.retrieve(name).status, "completed", "the status")
    conversation = client.conversations.create()
    client.responses.create(model=model, input="Say hello", conversation=conversation.id)
    same(len(client.conversations.items.list(conversation.id).data), 2, "the number of items")


failed = False
for model in sys.argv[1:]:
    try:
        run(model)
    except Exception as error:
        failed = True
        print(f"{model}: {type(error).__name__} {error}"[:600], file=sys.stderr)
sys.exit(1 if failed else 0)

"""Validates every answer and event of the Responses API strictly against the types of OpenAI's Python client.

The arguments are deployments. Values are not converted, and a field that the type does not have is an error. Exits with 1 and
a report on failure.
"""

import json
import os
import sys
import typing

import httpx
from openai.types.conversations import Conversation, ConversationDeletedResource, ConversationItem, ConversationItemList
from openai.types.responses import CompactedResponse, Response, ResponseItemList, ResponseStreamEvent
from openai.types.responses.input_token_count_response import InputTokenCountResponse
from pydantic import BaseModel, TypeAdapter, ValidationError

web = httpx.Client(
    base_url=f"{os.environ['PARLEY_URL']}/v1", headers={"api-key": os.environ["PARLEY_KEY"]}, timeout=60
)
weather = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
person = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
# Fields of a response in the neutral specification that this client does not have, and extensions
# of Parley.
own_fields = {"store", "presence_penalty", "frequency_penalty", "parley"}
# The client has no status for output items, although the API returns it. Errors also have the
# general error format.
own_fields_of = {"custom_tool_call": {"status"}, "error": {"error"}}
seen = {"events": 0, "answers": 0}
kinds = set()
faults = []


def members(annotation):
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    return {member.model_fields["type"].annotation: member for member in typing.get_args(annotation)}


by_type = {typing.get_args(literal)[0]: model for literal, model in members(ResponseStreamEvent).items()}


def unknown_fields(value, path=""):
    if isinstance(value, BaseModel):
        own = own_fields | own_fields_of.get(getattr(value, "type", None), set())
        for name in value.model_extra or {}:
            if name not in own:
                yield f"{path}{name}"
        for name in value.model_fields_set & set(type(value).model_fields):
            yield from unknown_fields(getattr(value, name), f"{path}{name}.")
    elif isinstance(value, list):
        for nth, item in enumerate(value):
            yield from unknown_fields(item, f"{path}{nth}.")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from unknown_fields(item, f"{path}{name}.")


def hold(annotation, value, what):
    try:
        held = TypeAdapter(annotation).validate_python(value, strict=True)
    except ValidationError as error:
        faults.append(f"{what}: {error.errors(include_url=False)[:3]} in {json.dumps(value)[:400]}")
        return
    for name in unknown_fields(held):
        faults.append(f"{what}: no field {name} is known")


def answer(annotation, method, path, body=None, what=""):
    reply = web.request(method, path, json=body)
    if reply.status_code != 200:
        faults.append(f"{what} {method} {path}: {reply.status_code} {reply.text[:300]}")
        return {}
    seen["answers"] += 1
    hold(annotation, reply.json(), f"{what} {method} {path}")
    return reply.json()


def read_events(reply, what):
    if reply.status_code != 200:
        faults.append(f"{what}: {reply.status_code} {reply.read()[:300]}")
        return []
    events = [json.loads(line[6:]) for line in reply.iter_lines() if line.startswith("data: {")]
    for event in events:
        seen["events"] += 1
        kinds.add(event.get("type"))
        model = by_type.get(event.get("type"))
        if model is None:
            faults.append(f"{what}: no event of the type {event.get('type')} is known")
        else:
            hold(model, event, f"{what}, {event['type']}")
    return events


def stream(body, what):
    with web.stream("POST", "/responses", json={**body, "stream": True}) as reply:
        return read_events(reply, f"{what}, streamed")


def both(body, what, status="completed"):
    """Requests JSON and a stream with equal content, and returns the response."""
    whole = answer(Response, "POST", "/responses", body, what)
    events = stream(body, what)
    for name in (whole.get("status"), events[-1]["type"].removeprefix("response.") if events else "nothing"):
        if name != status:
            faults.append(f"{what} is {name}, not {status}")
    return whole


def run(model):
    def ask(said, **fields):
        return {"model": model, "input": said, **fields}

    first = both(ask("Say hello", instructions="Be brief.", metadata={"a": "b"}, temperature=0.5), f"{model}, a text")
    # Relayed bytes come from the upstream: the mock omits fields that the types require.
    if model != "responses":
        both(ask("Say hello", store=False, max_output_tokens=100), f"{model}, nothing stored")
    called = both(ask("Say the weather", tools=[weather], tool_choice="auto"), f"{model}, a call")
    both(ask("Name two cities", tools=[weather], parallel_tool_calls=True), f"{model}, two calls")
    call = next((item for item in called.get("output", []) if item["type"] == "function_call"), None)
    if call is None:
        faults.append(f"{model}: no call came")
    else:
        output = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny in Paris"}
        both(ask([output], previous_response_id=called["id"], tools=[weather]), f"{model}, the output of a call")
    patch = {"type": "custom", "name": "exec_command", "description": "Runs a command"}
    both(ask("Change the greeting", tools=[patch]), f"{model}, a custom tool")
    sealed = ["reasoning.encrypted_content"]
    both(ask("Please think", reasoning={"effort": "low", "summary": "auto"}, include=sealed), f"{model}, reasoning")
    form = {"type": "json_schema", "name": "person", "schema": person, "strict": True}
    both(ask("Name a person", text={"format": form}), f"{model}, a form")
    both(ask("This is cut off"), f"{model}, cut off", "incomplete")
    conversation = answer(Conversation, "POST", "/conversations", {"metadata": {"a": "b"}}, model)
    both(ask("Say hello", conversation=conversation.get("id")), f"{model}, in a conversation")
    place = f"/conversations/{conversation.get('id')}"
    items = {"items": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello"}]}
    answer(ConversationItemList, "POST", f"{place}/items", items, model)
    listed = answer(ConversationItemList, "GET", f"{place}/items?limit=3", None, model)
    answer(ConversationItem, "GET", f"{place}/items/{listed['data'][0]['id']}", None, model)
    answer(Conversation, "POST", place, {"metadata": {"a": "c"}}, model)
    answer(Conversation, "DELETE", f"{place}/items/{listed['data'][0]['id']}", None, model)
    answer(ConversationDeletedResource, "DELETE", place, None, model)
    background(ask, model)
    answer(Response, "GET", f"/responses/{first['id']}", None, model)
    answer(ResponseItemList, "GET", f"/responses/{first['id']}/input_items", None, model)
    answer(InputTokenCountResponse, "POST", "/responses/input_tokens", ask("Say hello"), model)
    answer(CompactedResponse, "POST", "/responses/compact", ask("Say hello"), model)
    refusals(ask, model)


def background(ask, model):
    queued = answer(Response, "POST", "/responses", ask("Say hello", background=True), f"{model}, in the background")
    with web.stream("GET", f"/responses/{queued['id']}?stream=true") as reply:
        read_events(reply, f"{model}, in the background, followed")
    stream(ask("Say hello", background=True), f"{model}, in the background")
    stream(ask("Now break off", background=True), f"{model}, in the background, broken off")
    stopped = answer(Response, "POST", "/responses", ask("Say hello", background=True), f"{model}, to be cancelled")
    answer(Response, "POST", f"/responses/{stopped['id']}/cancel", None, f"{model}, cancelled")


def refusals(ask, model):
    for text, status in (("It is overloaded", 503), ("It is too much", 400)):
        reply = web.post("/responses", json=ask(text))
        error = reply.json().get("error", {})
        known = {"message": str, "type": str, "param": (str, type(None)), "code": (str, type(None))}
        right = all(isinstance(error.get(name), kind) for name, kind in known.items())
        if reply.status_code != status or not right:
            faults.append(f"{model}, {text}: {reply.status_code} {reply.text[:300]}")


for name in sys.argv[1:]:
    try:
        run(name)
    except Exception as error:
        faults.append(f"{name}: {type(error).__name__} {error}")
print(f"{seen['answers']} answers and {seen['events']} events of {len(kinds)} kinds: {', '.join(sorted(map(str, kinds)))}")
for fault in faults[:40]:
    print(fault[:900], file=sys.stderr)
sys.exit(1 if faults else 0)

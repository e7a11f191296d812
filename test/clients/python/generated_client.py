"""Imports all modules of the client that openapi-python-client generates from the description, and calls the service."""

import importlib
import io
import os
import pkgutil
import sys

sys.path.insert(0, sys.argv[1])

import generated  # noqa: E402

MODULES = [module.name for module in pkgutil.walk_packages(generated.__path__, "generated.")]
for name in MODULES:
    importlib.import_module(name)

from generated import AuthenticatedClient  # noqa: E402
from generated.api.chat import create_chat_completion_v1  # noqa: E402
from generated.api.files import delete_file, get_bucket, get_file, put_file  # noqa: E402
from generated.api.listings import get_models_openai, list_deployments_openai  # noqa: E402
from generated.api.messages import create_message_anthropic  # noqa: E402
from generated.models import ChatRequestByModel, Error, MessagesRequest  # noqa: E402
from generated.types import File  # noqa: E402

URL, KEY = os.environ["PARLEY_URL"], os.environ["PARLEY_KEY"]
client = AuthenticatedClient(base_url=URL, token=KEY)


def same(seen, expected, what):
    if seen != expected:
        raise AssertionError(f"{what} is {seen!r}, not {expected!r}")


def to_chat(model):
    return ChatRequestByModel.from_dict({"model": model, "messages": [{"role": "user", "content": "Say hello."}]})


def chat_whole():
    reply = create_chat_completion_v1.sync(client=client, body=to_chat("gpt"))
    same(reply.choices[0].message.content, "Hello! Grüße, 你好 😀, from the mock.", "the reply")
    same(reply.usage.completion_tokens, 13, "the usage")


def message():
    asked = {"model": "claude", "max_tokens": 100, "messages": [{"role": "user", "content": "Say hello."}]}
    reply = create_message_anthropic.sync(client=client, body=MessagesRequest.from_dict(asked))
    same(reply.stop_reason, "end_turn", "the reason of the end")


def listing():
    listed = list_deployments_openai.sync(client=client)
    same("sdk" in [each.id for each in listed.data], True, "the application among the deployments")
    same(get_models_openai.sync("gpt", client=client).capabilities.chat_completion, True, "what the model can do")


def file():
    bucket, path = get_bucket.sync(client=client).bucket, "notes of python.txt"
    put = put_file.sync(bucket, path, client=client, body=File(io.BytesIO("Grüße".encode())))
    same(put.content_length, 7, "the length of the file")
    got = get_file.sync_detailed(bucket, path, client=client)
    same(got.content.decode(), "Grüße", "the file")
    same(delete_file.sync_detailed(bucket, path, client=client).status_code, 204, "the status")


def refusal():
    told = create_chat_completion_v1.sync_detailed(client=client, body=to_chat("nobody"))
    same(told.status_code, 404, "the status")
    same(isinstance(told.parsed, Error), True, "that it is an error")
    same(told.parsed.error.code, "model_not_found", "the code")


for each in [chat_whole, message, listing, file, refusal]:
    each()

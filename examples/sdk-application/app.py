"""Digest, an application behind Parley: has a model tell in short what the attached texts say, and keeps the digest as a file."""

import os

import openai
import uvicorn
from aidial_client import AsyncDial, DialException
from aidial_sdk import DIALApp, HTTPException
from aidial_sdk.chat_completion import ChatCompletion, Choice, Message, Request, Response
from aidial_sdk.exceptions import InvalidRequestError

DIAL_URL = os.environ.get("DIAL_URL", "http://127.0.0.1:8080")
PORT = int(os.environ.get("PORT", "5000"))
MODEL = "demo"


class Digest(ChatCompletion):
    async def chat_completion(self, request: Request, response: Response) -> None:
        question = request.messages[-1]
        attachments = (question.custom_content and question.custom_content.attachments) or []
        if not attachments and not question.text().strip():
            raise InvalidRequestError(
                "The last message has neither a text nor an attachment.",
                param="messages",
                display_message="Attach a text, or write one.",
            )
        # The key of this request reaches the model and the user's files, for as long as this request lasts.
        async with AsyncDial(base_url=DIAL_URL, api_key=request.api_key) as dial:
            with response.create_single_choice() as choice:
                texts = [question.text()]
                for attachment in attachments:
                    with choice.create_stage(f"Reading {attachment.title}") as stage:
                        text = attachment.data or await self.read(dial, attachment.url)
                        stage.append_content(f"{len(text)} characters")
                        texts.append(text)
                digest = await self.ask(request, response, choice, texts)
                number = digests_before(request.messages) + 1
                folder = await dial.my_appdata()
                stored = await dial.files.upload(
                    url=f"files/{folder.raw}/digest-{number}.md",
                    file=(f"digest-{number}.md", digest.encode(), "text/markdown"),
                )
                choice.add_attachment(type="text/markdown", title=stored.name, url=stored.url)
                choice.set_state({"digests": number})

    async def read(self, dial: AsyncDial, url: str) -> str:
        try:
            file = await dial.files.download(url=url)
            return (await file.aget_content()).decode()
        except DialException as error:
            raise HTTPException(
                f"The attachment {url} cannot be read.",
                status_code=error.status_code or 500,
                code="attachment_not_read",
                display_message="One of the attachments cannot be read.",
            ) from error

    async def ask(self, request: Request, response: Response, choice: Choice, texts: list[str]) -> str:
        model = openai.AsyncAzureOpenAI(
            azure_endpoint=DIAL_URL, api_key=request.api_key, api_version="2024-10-21", max_retries=0
        )
        digest = ""
        try:
            chunks = await model.chat.completions.create(
                model=MODEL,
                messages=[
                    {"role": "system", "content": "Tell in one sentence what the texts say."},
                    {"role": "user", "content": "\n\n".join(filter(None, texts))},
                ],
                stream=True,
                stream_options={"include_usage": True},
            )
            async for chunk in chunks:
                if chunk.choices and chunk.choices[0].delta.content:
                    digest += chunk.choices[0].delta.content
                    choice.append_content(chunk.choices[0].delta.content)
                if chunk.usage:
                    response.set_usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        except openai.APIStatusError as error:
            raise HTTPException(
                f"The model refused: {error.message}",
                status_code=error.status_code,
                display_message="The model cannot answer now.",
            ) from error
        return digest


def digests_before(messages: list[Message]) -> int:
    """What the state of the last reply tells; the service gives it back with the conversation."""
    states = [message.custom_content.state for message in messages if message.custom_content and message.custom_content.state]
    return states[-1]["digests"] if states else 0


app = DIALApp(add_healthcheck=True)
app.add_chat_completion("digest", Digest())

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT)

"""An application with aidial-sdk that calls the model `gpt` on behalf of its caller and returns the answer."""

import os

import openai
import uvicorn
from aidial_sdk import DIALApp
from aidial_sdk import HTTPException as DIALException
from aidial_sdk.chat_completion import ChatCompletion, Request, Response


class Relay(ChatCompletion):
    async def chat_completion(self, request: Request, response: Response) -> None:
        model = openai.AsyncAzureOpenAI(
            azure_endpoint=os.environ["DIAL_URL"],
            azure_deployment="gpt",
            api_key=request.api_key,
            api_version="2024-10-21",
            max_retries=0,
        )
        given = request.dict(include={"messages", "tools", "tool_choice", "response_format"}, exclude_none=True, by_alias=True)
        try:
            async with await model.chat.completions.create(
                model="gpt", stream=True, stream_options={"include_usage": True}, **given
            ) as chunks:
                await self.tell(chunks, response)
        except openai.APIStatusError as error:
            told = error.body if isinstance(error.body, dict) else {}
            raise DIALException(
                status_code=error.status_code,
                message=told.get("message") or error.message,
                type=told.get("type"),
                param=told.get("param"),
                code=told.get("code"),
                display_message="The model cannot answer this.",
            ) from error

    async def tell(self, chunks, response: Response) -> None:
        usage = None
        with response.create_single_choice() as choice:
            with choice.create_stage("Asking the model") as stage:
                stage.append_content("gpt")
            calls = {}
            async for chunk in chunks:
                usage = chunk.usage or usage
                for part in chunk.choices:
                    if part.delta.content:
                        choice.append_content(part.delta.content)
                    for call in part.delta.tool_calls or []:
                        if call.index not in calls:
                            calls[call.index] = choice.create_function_tool_call(call.id, call.function.name)
                        if call.function.arguments:
                            calls[call.index].append_arguments(call.function.arguments)
        if usage is not None:
            response.set_usage(usage.prompt_tokens, usage.completion_tokens)
            response.add_usage_per_model("gpt", usage.prompt_tokens, usage.completion_tokens)


app = DIALApp(add_healthcheck=True)
app.add_chat_completion("sdk", Relay())

uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")

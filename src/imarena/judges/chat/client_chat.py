"""Implement the chat port with a real client: send a judge's question to an endpoint or a local model."""

from imarena.clients import ChatBackend as Client
from imarena.clients import ChatRequest, Endpoint, ImageParts, Message, Part
from imarena.core import Chat, ChatAnswer, ChatPrompt, InvalidImage, sha256_hex
from imarena.core.records import JsonDict, Status
from imarena.images import Preparation


def chat_with_client(client: Client, preparation: Preparation) -> Chat:
    """A `Chat` over `client` that prepares each image once (see `preparation`) and caches it.

    A spent budget raises, because it ends the run; all other failures are returned as a status.
    """
    image_parts = ImageParts()

    async def ask(prompt: ChatPrompt) -> ChatAnswer:
        try:
            parts: list[Part] = [
                part if isinstance(part, str) else await image_parts.get(part, sha256_hex(part), preparation)
                for part in prompt.parts
            ]
        except InvalidImage as error:
            return ChatAnswer(Status.INVALID_IMAGE, error=str(error))
        reply = await client.complete(
            ChatRequest(
                (Message("system", (prompt.system,)), Message("user", tuple(parts))),
                temperature=prompt.temperature,
                max_tokens=prompt.max_tokens,
                seed=prompt.seed,
                schema=prompt.schema,
            )
        )
        return ChatAnswer(reply.status, reply.text, reply.model, reply.usage, reply.error)

    return ask


def endpoint_options(endpoint: Endpoint) -> JsonDict:
    """The options with which to make a judge at this endpoint, so that they are in its judgments' identity."""
    return {"model": endpoint.model, "images": endpoint.preparation.label}

"""Chat and image endpoints: retry, rate limit, cost; the one safe fetcher."""

from imarena.clients.budget import Budget, BudgetSpent
from imarena.clients.chat import Chat, ChatClient, ChatReply, Totals
from imarena.clients.endpoint import Endpoint, read_endpoint
from imarena.clients.fetch import Fetched, FetchRefused, fetch
from imarena.clients.messages import ChatRequest, ImagePart, ImageParts, Message, Part, ask, image_part
from imarena.clients.secret import Secret, scrub

__all__ = [
    "Budget",
    "BudgetSpent",
    "Chat",
    "ChatClient",
    "ChatReply",
    "ChatRequest",
    "Endpoint",
    "FetchRefused",
    "Fetched",
    "ImagePart",
    "ImageParts",
    "Message",
    "Part",
    "Secret",
    "Totals",
    "ask",
    "fetch",
    "image_part",
    "read_endpoint",
    "scrub",
]

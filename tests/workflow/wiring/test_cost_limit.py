"""A run that reaches its cost limit ends: nobody waits for money that nobody holds."""

import asyncio

from imarena.clients import Budget, CostLimitReached, Endpoint
from imarena.core.protocols import ChatAnswer, ChatPrompt
from imarena.core.records import Status
from imarena.workflows.wiring.judges import JudgeChat


def test_nothing_is_held_once_every_request_is_settled() -> None:
    budget = Budget(10.0)
    held = [budget.reserve(amount) for amount in (0.1, 0.2, 0.3)]  # 0.1 + 0.2 + 0.3 - 0.1 - 0.2 - 0.3 is not 0
    for reservation in held:
        budget.settle(reservation, 0.0)
    assert budget.reserved_usd == 0.0


def test_who_waits_for_money_learns_that_a_retry_did_not_fit() -> None:
    """One request fails, is charged, and its second try does not fit: the one that waited for it ends as well."""
    budget = Budget(1.0)
    held = asyncio.Event()

    async def chat(prompt: ChatPrompt) -> ChatAnswer:
        reservation = budget.reserve(0.8)
        held.set()
        await asyncio.sleep(0.05)
        budget.settle(reservation, 0.8)
        budget.reserve(0.8)
        return ChatAnswer(Status.OK)

    async def both() -> tuple[BaseException | ChatAnswer, ...]:
        client = JudgeChat(Endpoint(base_url="http://localhost/v1", model="m"), budget)
        client._chat = chat
        first = asyncio.create_task(client(ChatPrompt("", ())))
        await held.wait()
        second = asyncio.create_task(client(ChatPrompt("", ())))
        return await asyncio.wait_for(asyncio.gather(first, second, return_exceptions=True), 20)

    assert [type(result) for result in asyncio.run(both())] == [CostLimitReached, CostLimitReached]

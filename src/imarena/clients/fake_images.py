"""A server that speaks the image protocols of OpenAI, Gemini, OpenRouter, fal and Replicate, and misbehaves on demand.

Run it with `python -m imarena.clients.fake_images --port 0 --fault refusal=0.05`, or open it in a test with
`async with FakeImages() as server`. It really changes the pictures that it gets: the same request has the same answer.
"""

import argparse
import asyncio
import base64
import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from imarena.clients.fake_faults import parse_rates
from imarena.clients.fake_image_words import ImageProtocol, ImageRequest, data_url_bytes, gemini_error, openai_error
from imarena.clients.fake_listen import ListeningServer, abort, serve_until_interrupted
from imarena.clients.fake_pictures import ImageFault, ImageFaults, draw_reply_images, encode_base64

_HTML = "<!doctype html><html><body><h1>404 Not Found</h1></body></html>"
_WORDS = "I can describe this image, but I did not make a new one."


@dataclass
class ImageCounts:
    """Statistics of the server. `GET /fake/counts` returns them."""

    requests: int = 0
    made: int = 0
    """Requests that were answered with images, which a provider charges for."""
    repeated: int = 0
    """How many of these had already been answered with exactly the same images."""
    by_protocol: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)


@dataclass
class FakeImages(ListeningServer):
    """Settings of the server; as an async context manager it listens on a free port of the loopback interface."""

    faults: ImageFaults = field(default_factory=ImageFaults)
    reply_s: float = 0.0
    api_key: str | None = field(default=None, repr=False)
    urls: bool = False
    """OpenAI's endpoints answer with URLs instead of base64."""
    polls: int = 1
    """Number of polls that report an unfinished job."""
    counts: ImageCounts = field(default_factory=ImageCounts)
    _seen: Counter[str] = field(default_factory=Counter)
    _answered: set[str] = field(default_factory=set)
    _files: dict[str, bytes] = field(default_factory=dict)
    _jobs: dict[str, dict[str, Any]] = field(default_factory=dict)

    def app(self) -> web.Application:
        """The application, to run it yourself."""
        app = web.Application(client_max_size=64 * 1024**2)
        app.router.add_post("/v1/images/{what:edits|generations}", self._openai)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1beta/models/{model}:generateContent", self._gemini)
        app.router.add_post("/fal/{model:.+}", self._fal)
        app.router.add_get("/fal/{model:.+}/requests/{job}/status", self._fal_status)
        app.router.add_get("/fal/{model:.+}/requests/{job}", self._fal_result)
        app.router.add_post("/replicate/v1/models/{owner}/{name}/predictions", self._replicate)
        app.router.add_get("/replicate/v1/predictions/{job}", self._replicate_job)
        app.router.add_get("/files/{name}", self._file)
        app.router.add_get("/fake/counts", self._show_counts)
        return app

    async def _show_counts(self, _request: web.Request) -> web.Response:
        return web.json_response({**vars(self.counts)})

    async def _file(self, request: web.Request) -> web.Response:
        data = self._files.get(request.match_info["name"])
        if data is None:
            raise web.HTTPNotFound
        return web.Response(body=data, content_type="image/png")

    # ------------------------------------------------------------------ shared by all protocols

    async def _answer(
        self, request: web.Request, query: ImageRequest, protocol: str, speak: ImageProtocol
    ) -> web.StreamResponse:
        self.counts.requests += 1
        self.counts.by_protocol[protocol] += 1
        if not self._authorized(request, speak.key_header, speak.key_prefix):
            return speak.error(401, "Incorrect API key provided.", "invalid_api_key")
        attempt = self._seen[query.digest]
        self._seen[query.digest] += 1
        fault = self.faults.draw(query.prompt, query.digest, attempt)
        if fault is not None:
            self.counts.faults[fault.value] += 1
        early = await self._early(request, fault, speak)
        if early is not None:
            return early
        await asyncio.sleep(self.reply_s)
        if fault in (ImageFault.REFUSAL, ImageFault.BLOCKED):
            return speak.refusal(fault)
        try:
            pictures = [] if fault is ImageFault.TEXT else draw_reply_images(query.prompt, query.pictures, fault)
        except ValueError as error:
            return speak.error(400, str(error), "invalid_image")
        if pictures:
            self.counts.made += 1
            self.counts.repeated += query.digest in self._answered
            self._answered.add(query.digest)
        return speak.pictures(query, pictures, fault)

    async def _early(
        self, request: web.Request, fault: ImageFault | None, speak: ImageProtocol
    ) -> web.StreamResponse | None:
        if fault is ImageFault.RATE_LIMITED:
            return speak.error(429, "Rate limit reached.", "rate_limit_exceeded", self.faults.retry_after)
        if fault is ImageFault.SERVER_ERROR:
            return speak.error(500, "The server had an error while processing your request.", "server_error")
        if fault is ImageFault.HTML:
            return web.Response(text=_HTML, content_type="text/html")
        if fault is ImageFault.WRONG_JSON:
            return web.Response(text='{"data": [', content_type="application/json")
        if fault is ImageFault.HANG:
            await asyncio.sleep(self.faults.hang_s)
        return abort(request) if fault in (ImageFault.HANG, ImageFault.DISCONNECT) else None

    def _authorized(self, request: web.Request, header: str, prefix: str) -> bool:
        return self.api_key is None or request.headers.get(header) == f"{prefix} {self.api_key}".strip()

    def stored(self, data: bytes, fault: ImageFault | None) -> str:
        """Store an image as a file and return its URL."""
        name = f"{hashlib.sha256(data).hexdigest()[:20]}.png"
        if fault is not ImageFault.LOST_FILE:
            self._files[name] = data
        return f"{self.root}/files/{name}"

    # ------------------------------------------------------------------ OpenAI

    async def _openai(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["what"] == "generations":
            body = await request.json()
            query = ImageRequest(body["model"], body["prompt"], (), (str(body.get("seed")),))
        else:
            form = await request.post()
            files = [(key, value) for key, value in form.items() if isinstance(value, web.FileField)]
            pictures = tuple(value.file.read() for key, value in files if key in ("image", "image[]"))
            if not pictures:
                return openai_error(400, "Missing required parameter: 'image'.", "missing_required_parameter")
            query = ImageRequest(str(form["model"]), str(form["prompt"]), pictures, (str(form.get("seed")),))

        def pictures_of(query: ImageRequest, outputs: list[bytes], fault: ImageFault | None) -> web.Response:
            rows = [
                {"url": self.stored(d, fault)} if self.urls else {"b64_json": encode_base64(d, fault)} for d in outputs
            ]
            usage = {"input_tokens": 50 + len(query.prompt) // 4, "output_tokens": 1056 * len(outputs)}
            usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
            return web.json_response({"created": 1_700_000_000, "data": rows, "usage": usage})

        def refusal(_fault: ImageFault) -> web.Response:
            return openai_error(
                400,
                "Your request was rejected by the safety system.",
                "moderation_blocked",
                kind="image_generation_user_error",
            )

        return await self._answer(request, query, "openai", ImageProtocol(pictures_of, refusal, openai_error))

    # ------------------------------------------------------------------ OpenRouter

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        parts = body["messages"][-1]["content"]
        prompt = " ".join(part["text"] for part in parts if part["type"] == "text")
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        query = ImageRequest(body["model"], prompt, tuple(map(data_url_bytes, urls)), (str(body.get("seed")),))

        def message(reply_message: dict[str, Any], finish: str, images: int) -> web.Response:
            usage = {"prompt_tokens": 300, "completion_tokens": 1290 * max(1, images), "cost": 0.039 * images}
            choice = {"index": 0, "message": {"role": "assistant", **reply_message}, "finish_reason": finish}
            return web.json_response({"id": "gen-1", "model": query.model, "choices": [choice], "usage": usage})

        def pictures_of(_asked: ImageRequest, outputs: list[bytes], fault: ImageFault | None) -> web.Response:
            images = [
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encode_base64(data, fault)}"}}
                for data in outputs
            ]
            return message({"content": _WORDS if not outputs else "", "images": images}, "stop", len(outputs))

        def refusal(fault: ImageFault) -> web.Response:
            if fault is ImageFault.REFUSAL:
                return message({"content": None, "refusal": "I cannot help with that."}, "stop", 0)
            flagged = {"reasons": ["violence"], "flagged_input": "...", "provider_name": "fake"}
            error = {"code": 403, "message": "Your input was flagged.", "metadata": flagged}
            return web.json_response({"error": error}, status=403)

        return await self._answer(request, query, "chat", ImageProtocol(pictures_of, refusal, openai_error))

    # ------------------------------------------------------------------ Gemini

    async def _gemini(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        parts = body["contents"][0]["parts"]
        prompt = " ".join(part["text"] for part in parts if "text" in part)
        pictures = tuple(base64.b64decode(part["inline_data"]["data"]) for part in parts if "inline_data" in part)
        seed = str(body["generationConfig"].get("seed"))
        query = ImageRequest(request.match_info["model"], prompt, pictures, (seed,))
        usage = {"promptTokenCount": 258 * len(pictures) + 20, "candidatesTokenCount": 1290}

        def pictures_of(_asked: ImageRequest, outputs: list[bytes], fault: ImageFault | None) -> web.Response:
            parts: list[dict[str, Any]] = [{"text": "Here it is." if outputs else _WORDS}]
            parts += [{"inlineData": {"mimeType": "image/png", "data": encode_base64(data, fault)}} for data in outputs]
            candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
            return web.json_response({"candidates": [candidate], "usageMetadata": usage, "modelVersion": query.model})

        def refusal(fault: ImageFault) -> web.Response:
            if fault is ImageFault.BLOCKED:
                return web.json_response({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage})
            candidate = {"finishReason": "IMAGE_SAFETY", "finishMessage": "Unable to show the image.", "index": 0}
            return web.json_response({"candidates": [candidate], "usageMetadata": usage})

        speak = ImageProtocol(pictures_of, refusal, gemini_error, "x-goog-api-key", "")
        return await self._answer(request, query, "gemini", speak)

    # ------------------------------------------------------------------ queues

    def _job(self, query: ImageRequest, outputs: list[bytes], fault: ImageFault | None) -> dict[str, Any]:
        urls = [self.stored(data, fault) for data in outputs]
        name = f"{len(self._jobs):06d}-{query.digest[:16]}"
        job: dict[str, Any] = {"id": name, "fault": fault, "polls": 0, "urls": urls}
        self._jobs[name] = job
        return job

    def _polled(self, request: web.Request) -> tuple[dict[str, Any], bool]:
        job = self._jobs.get(request.match_info["job"])
        if job is None:
            raise web.HTTPNotFound
        job["polls"] += 1
        return job, job["polls"] > self.polls and job["fault"] is not ImageFault.JOB_STUCK

    async def _fal(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        urls = body.get("image_urls") or ([body["image_url"]] if "image_url" in body else [])
        model = request.match_info["model"]
        query = ImageRequest(model, body["prompt"], tuple(map(data_url_bytes, urls)), (str(body.get("seed")),))

        def accepted(query: ImageRequest, outputs: list[bytes], fault: ImageFault | None) -> web.Response:
            job = self._job(query, outputs, fault)
            at = f"{self.root}/fal/{model}/requests/{job['id']}"
            answer = {"request_id": job["id"], "response_url": at, "status_url": f"{at}/status", "queue_position": 0}
            return web.json_response({"status": "IN_QUEUE", "cancel_url": f"{at}/cancel", **answer})

        def refusal(_fault: ImageFault) -> web.Response:
            problem = {
                "loc": ["body", "prompt"],
                "msg": "Flagged by a content checker.",
                "type": "content_policy_violation",
            }
            return web.json_response({"detail": [problem]}, status=422)

        def error(status: int, message: str, _code: str, after: str = "") -> web.Response:
            return web.json_response(
                {"detail": message}, status=status, headers={"Retry-After": after} if after else {}
            )

        return await self._answer(request, query, "fal", ImageProtocol(accepted, refusal, error, key_prefix="Key"))

    async def _fal_status(self, request: web.Request) -> web.Response:
        job, done = self._polled(request)
        job_status: dict[str, Any] = {"status": "COMPLETED" if done else "IN_PROGRESS", "request_id": job["id"]}
        if done and job["fault"] is ImageFault.JOB_FAILED:  # fal has no failed state: the error is a separate field
            job_status |= {"error": "CUDA out of memory", "error_type": "runner_server_error"}
        return web.json_response(job_status, status=200 if done else 202)

    async def _fal_result(self, request: web.Request) -> web.Response:
        job = self._jobs[request.match_info["job"]]
        if job["fault"] is ImageFault.JOB_FAILED:
            return web.json_response({"detail": "CUDA out of memory"}, status=500)
        images = [{"url": url, "content_type": "image/png"} for url in job["urls"]]
        return web.json_response({"images": images, "seed": 1, "has_nsfw_concepts": [False] * len(images)})

    async def _replicate(self, request: web.Request) -> web.StreamResponse:
        job_input = (await request.json())["input"]
        model = f"{request.match_info['owner']}/{request.match_info['name']}"
        pictures = (data_url_bytes(job_input["input_image"]),) if "input_image" in job_input else ()
        query = ImageRequest(model, job_input["prompt"], pictures, (str(job_input.get("seed")),))

        def accepted(query: ImageRequest, outputs: list[bytes], fault: ImageFault | None) -> web.Response:
            return web.json_response(self._prediction(self._job(query, outputs, fault), "starting"), status=201)

        def refusal(_fault: ImageFault) -> web.Response:
            job = self._job(query, [], ImageFault.REFUSAL)
            return web.json_response(self._prediction(job, "starting"), status=201)

        def error(status: int, message: str, _code: str, after: str = "") -> web.Response:
            body = {"title": message, "detail": message, "status": status}
            return web.json_response(body, status=status, headers={"Retry-After": after} if after else {})

        return await self._answer(request, query, "replicate", ImageProtocol(accepted, refusal, error))

    async def _replicate_job(self, request: web.Request) -> web.Response:
        job, done = self._polled(request)
        wrong = {ImageFault.JOB_FAILED: "CUDA out of memory", ImageFault.REFUSAL: "NSFW content detected. (E005)"}
        if done and job["fault"] in wrong:
            return web.json_response({**self._prediction(job, "failed"), "error": wrong[job["fault"]]})
        return web.json_response(self._prediction(job, "succeeded" if done else "processing"))

    def _prediction(self, job: dict[str, Any], status: str) -> dict[str, Any]:
        output = (job["urls"][0] if len(job["urls"]) == 1 else job["urls"] or None) if status == "succeeded" else None
        at = f"{self.root}/replicate/v1/predictions/{job['id']}"
        return {"id": job["id"], "status": status, "output": output, "error": None, "urls": {"get": at}}


def main(arguments: list[str] | None = None) -> None:
    """Serve until interrupted; the first line on stdout is the URL."""
    parser = argparse.ArgumentParser(prog="python -m imarena.clients.fake_images", description=__doc__)
    parser.add_argument("--port", type=int, default=8100, help="0 takes a free one")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=RATE", help="may be given several times")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reply-s", type=float, default=0.0)
    parser.add_argument("--api-key", default=None)
    parser.add_argument("--urls", action="store_true", help="OpenAI's endpoints answer with addresses")
    options = parser.parse_args(arguments)
    faults = ImageFaults(parse_rates(options.fault, ImageFault), seed=options.seed)
    asyncio.run(
        serve_until_interrupted(
            FakeImages(faults, reply_s=options.reply_s, api_key=options.api_key, urls=options.urls, port=options.port)
        )
    )


if __name__ == "__main__":
    main()

"""Editors behind an endpoint: OpenAI, Gemini, chat models that draw, HTTP queues."""

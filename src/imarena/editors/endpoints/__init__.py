"""Editors behind an endpoint: OpenAI, Gemini, chat models that generate images, HTTP queues."""

"""Clients that look like those of the SDKs, over the fake model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.providers.model import model


class Dumped:
    """An object as the SDKs return them."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def model_dump(self, mode: str = "python") -> Any:
        return self.data


class Client:
    """``client.chat.completions.create`` and ``client.messages.create``."""

    base_url = "https://client.example.test/v1/"
    api_key = "sk-of-the-client"

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.chat = SimpleNamespace(
            completions=SimpleNamespace(create=lambda **body: self._create("/chat/completions", body))
        )
        self.messages = SimpleNamespace(create=lambda **body: self._create("/v1/messages", body))

    def _create(self, path: str, body: dict[str, Any]) -> Any:
        import json

        self.asked.append(body)
        said = model(SimpleNamespace(path=path, body=body))
        if "body" in said:
            return Dumped(said["body"])
        lines = [each.removeprefix("data: ") for each in said["sse"] if each and each != "data: [DONE]"]
        return iter([Dumped(json.loads(each)) for each in lines])

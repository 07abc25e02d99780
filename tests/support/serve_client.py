"""Asks the pages of `serve` without a connection."""

import asyncio

import httpx
from starlette.applications import Starlette


class Client:
    """A browser that keeps its cookies; it asks under the name of a host."""

    def __init__(self, app: Starlette, host: str = "127.0.0.1:8450") -> None:
        self.app = app
        self.host = host
        self.cookies = httpx.Cookies()

    def get(self, path: str, **options: dict[str, str] | dict[str, bytes]) -> httpx.Response:
        return self.ask("GET", path, **options)

    def ask(self, method: str, path: str, **options: dict[str, str] | dict[str, bytes]) -> httpx.Response:
        async def answered() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
            base = f"http://{self.host}"
            async with httpx.AsyncClient(transport=transport, base_url=base, cookies=self.cookies) as client:
                answer = await client.request(method, path, **options)
                self.cookies = client.cookies
                return answer

        return asyncio.run(answered())

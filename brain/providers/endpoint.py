"""Where requests go: the address made of what users paste, and the headers with their secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from brain.errors import ConfigurationError, WrongType
from brain.providers.secrets import Secret, scrub, sounds_secret

__all__ = ["Endpoint", "is_loopback", "join_url"]


def join_url(base_url: str, path: str) -> str:
    """Return the address to post to, made of a base URL as users have them.

    A base that already ends in ``path`` is taken as it is; one without a path gets ``/v1``, as does any
    without a version if ``path`` begins with one; a query stays; a base without a scheme is ``http`` on
    this machine and ``https`` elsewhere.
    """
    from urllib.parse import urlsplit, urlunsplit

    if not isinstance(base_url, str):
        raise WrongType(f"base_url must be a str, got {type(base_url).__name__}")
    url = base_url.strip().strip("\"'<>").strip()
    if "://" not in url:
        scheme = "http" if is_loopback(_host(url)) else "https"
        url = f"{scheme}://{url.lstrip('/')}"
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.scheme in ("http", "https") and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or any(character.isspace() or not character.isprintable() for character in url):
        raise ConfigurationError(
            "base_url must look like https://host/v1 (http or https, a host, no spaces); "
            f"got {base_url.partition('?')[0].rpartition('@')[2]!r}"
        )
    place = parts.path.rstrip("/")
    if not place.endswith("/" + path):
        if re.search(r"/v\d\w*$", place):
            path = path.removeprefix("v1/")
        elif not place:
            place = "" if path.startswith("v1/") else "/v1"
        place = f"{place}/{path}"
    return urlunsplit((parts.scheme, parts.netloc, place, parts.query, ""))


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    host = host.strip("[]").lower().rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    from ipaddress import ip_address

    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _host(url: str) -> str:
    place = url.lstrip("/").partition("/")[0].rpartition("@")[2]
    return place.partition("]")[0].lstrip("[") if place.startswith("[") else place.partition(":")[0]


class Endpoint:
    """An address with the headers every request to it carries.

    Args:
        base_url: where the server is; see ``join_url``. A user and password in it become HTTP Basic
            authorization; its query goes out with every request and is shown nowhere.
        path: the resource below it, as ``chat/completions``.
        headers: further headers; they win over those of the library.
    """

    def __init__(self, base_url: str, path: str, *, headers: Mapping[str, str] | None = None) -> None:
        from urllib.parse import parse_qsl, urlsplit

        parts = urlsplit(join_url(base_url, path))
        self.scheme = parts.scheme
        self.host = parts.hostname or ""
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.netloc = parts.netloc.rpartition("@")[2]
        self.path = parts.path
        self.key = Secret()  # sent as ``Authorization: Bearer`` when there is one
        self._login = Secret(parts.netloc.rpartition("@")[0], what="the password in base_url")
        self._query = [(name, _kept(name, value)) for name, value in parse_qsl(parts.query, keep_blank_values=True)]
        self._headers = {}
        for name, value in (headers or {}).items():
            self._headers[name] = _header(name, value)

    @property
    def shown(self) -> str:
        """The address without anything secret: no user, password, query."""
        return f"{self.scheme}://{self.netloc}{self.path}"

    @property
    def url(self) -> str:
        """The address that is requested, query included."""
        return f"{self.scheme}://{self.netloc}{self.target()}"

    def target(self) -> str:
        """Return path and query as they go into the request line."""
        from urllib.parse import quote, urlencode

        query = urlencode([(name, _said(value)) for name, value in self._query])
        path = quote(self.path, safe="/%:@!$&'()*+,;=~-._")
        return f"{path}?{query}" if query else path

    def headers(self, common: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of a request: ``common``, the authorization, and the user's own."""
        headers = dict(common)
        key, login = self.key.reveal(), self._login.reveal()
        if key:
            headers["Authorization"] = f"Bearer {key}"
        elif login:
            from base64 import b64encode
            from urllib.parse import unquote

            headers["Authorization"] = "Basic " + b64encode(unquote(login).encode()).decode("ascii")
        for name, value in self._headers.items():
            for known in [each for each in headers if each.lower() == name.lower()]:
                del headers[known]
            headers[name] = _said(value)
        return headers

    def scrub(self, text: str) -> str:
        """Return the text without any secret of this endpoint."""
        values = [_said(value) for value in (self.key, self._login, *(value for _, value in self._query))]
        for header in self._headers.values():
            if isinstance(header, Secret):
                said = _said(header)
                values += [said, said.rpartition(" ")[2]]
        login = _said(self._login)
        return scrub(text, [*values, *login.split(":", 1)])

    def __repr__(self) -> str:
        return self.shown


def _header(name: Any, value: Any) -> str | Secret:
    if not isinstance(name, str) or not isinstance(value, str):
        raise WrongType(f"headers must map str to str; {name!r} maps to {type(value).__name__}")
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise ConfigurationError(f"{name!r} is no name for a header")
    return _kept(name, value)


def _kept(name: str, value: str) -> str | Secret:
    if sounds_secret(name):
        return Secret(value, what=f"the value of {name!r}")
    if not value.isprintable():
        raise ConfigurationError(f"the value of {name!r} holds a line break or a control character")
    return value


def _said(value: Any) -> str:
    return value.reveal() if isinstance(value, Secret) else str(value)

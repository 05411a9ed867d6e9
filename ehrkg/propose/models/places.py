"""Whether an address is on this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_here(url: str) -> bool:
    """Whether what is sent to an address stays on this machine (loopback).

    >>> is_here("http://127.0.0.1:8080/v1"), is_here("http://localhost:1"), is_here("http://[::1]/")
    (True, True, True)
    >>> is_here("https://api.anthropic.com"), is_here("http://10.0.0.5:8000/v1")
    (False, False)
    """
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

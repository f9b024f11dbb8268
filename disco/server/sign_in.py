"""Authentication: proxy header, invitation link, OpenID Connect."""

import hmac
import ipaddress
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from disco.errors import InputError, printable
from disco.files import read_json, unwritten, write_json
from disco.server import streamlit_internals, users
from disco.server.middleware import ADMIN, page
from disco.server.users import INVITE, User

_LONGEST = 200  # characters of an identity
_YEAR = 365 * 24 * 3600
COOKIE = "disco_space"
_INVITED = "You are invited to this server. A cookie in this browser finds your space again."
_OPEN = "Open my space"
_LINKS, _MOST_BYTES = "invitations.json", 1 << 12


def is_allowed(name: str, allowed: Collection[str]) -> bool:
    """Whether a name is in a list of names, of endings as `@lab.org`, or of `*` for everybody; an empty list is `*`."""
    low = name.casefold()
    entries = [entry.casefold() for entry in allowed]
    return not entries or any(
        entry in ("*", low) or (entry.startswith("@") and low.endswith(entry)) for entry in entries
    )


@dataclass(frozen=True)
class ProxyHeader:
    """A proxy authenticates the user, whom it names in a header.

    Attributes:
        proxies: the proxies' networks, the only ones from which requests are accepted.
        admins, allowed: names.
    """

    header: str
    proxies: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]
    admins: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()
    may_enter_unknown = False

    def identify(self, request: HTTPConnection) -> User:
        """The user named in the header.

        Raises:
            InputError: the request does not come from a proxy, or the header is missing, repeated, or names a user who
                is not allowed.
        """
        peer = "" if request.client is None else request.client.host
        if not self._is_proxy(peer):
            raise InputError("This address answers its proxy alone: use the address that you were given.")
        values = request.headers.getlist(self.header)
        name = values[0].strip() if len(values) == 1 else ""
        if not name or len(name) > _LONGEST or not name.isprintable():
            raise InputError(f"The proxy did not say who you are: it must send {self.header} once, with your name.")
        if not is_allowed(name, self.allowed):
            raise InputError(f"{name} may not use this server: ask its admin.")
        return User(users.enter("header", name, name), name in self.admins)

    def _is_proxy(self, peer: str) -> bool:
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self.proxies)


@dataclass(frozen=True)
class Invitation:
    """Everybody who opens the link and clicks gets a private space, which a cookie finds again.

    Attributes:
        tokens: the secret in the link, by role: user, admin.
        most: maximum number of spaces.
        is_secure: whether the cookie is sent by https alone.
    """

    tokens: dict[str, str]
    most: int = 200
    is_secure: bool = False
    may_enter_unknown = False

    def identify(self, request: HTTPConnection) -> User | Response:
        """The owner of the cookie; for a link, a page with a button that makes a space.

        Raises:
            InputError: there is no cookie, the link is not valid, or there is no room.
        """
        user = self._of_cookie(request.cookies.get(COOKIE, ""))
        token = request.query_params.get(INVITE)
        if token is None or request.scope["type"] != "http":
            if user is None:
                raise InputError("This server is open to those with an invitation: open the link that you were given.")
            return user
        secret = token.encode(errors="replace")
        role = next(
            (role for role, expected in self.tokens.items() if hmac.compare_digest(expected.encode(), secret)), None
        )
        if role is None:
            raise InputError("This invitation is not valid any more: ask for a new link.")
        answer = RedirectResponse(_without_token(request), 303, {"Cache-Control": "no-store"})
        if user is not None and (user.is_admin or role != ADMIN):
            return answer
        if role != ADMIN and len(users.everybody()) >= self.most:
            raise InputError(f"This server has {self.most} users, the most that it takes: ask its admin.")
        if request.scope["method"] != "POST":  # a preview of a link gets no space
            return page(_INVITED, 200, _OPEN)
        self._let_in(answer, role)
        return answer

    def _of_cookie(self, secret: str) -> User | None:
        for role in self.tokens:
            user_id = users.user_id(_method(role), secret)
            if secret and users.has_visited(user_id):
                return User(user_id, role == ADMIN)
        return None

    def _let_in(self, answer: Response, role: str) -> None:
        secret = secrets.token_urlsafe(32)
        short_id = users.user_id(_method(role), secret)[:4]
        users.enter(_method(role), secret, f"{'Admin' if role == ADMIN else 'Guest'} {short_id}")
        attributes = {"max_age": _YEAR, "secure": self.is_secure, "httponly": True, "samesite": "lax"}
        answer.set_cookie(COOKIE, secret, **attributes)  # type: ignore[arg-type]


def _without_token(request: HTTPConnection) -> str:
    """The same address without the secret, relative to itself, so that it never leads to another host."""
    rest = request.url.remove_query_params(INVITE).query
    return f"./{request.url.path.rpartition('/')[2]}" + (f"?{rest}" if rest else "")


def invitations(are_new: bool = False) -> dict[str, str]:
    """The secrets of the links, by role; they persist when the server restarts.

    Args:
        are_new: revoke the previous links and create new ones.

    Raises:
        InputError: they cannot be stored.
    """
    path = users.users_root() / _LINKS
    roles = ("user", ADMIN)
    try:
        tokens = {} if are_new else read_json(path, _MOST_BYTES)
    except (OSError, ValueError):
        tokens = {}
    if not all(isinstance(tokens.get(role), str) and len(tokens[role]) > 20 for role in roles):
        tokens = {role: secrets.token_urlsafe(18) for role in roles}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, tokens)
            path.chmod(0o600)
        except OSError as error:
            raise unwritten(path, error) from error
    return {role: tokens[role] for role in roles}


def _method(role: str) -> str:
    return f"{INVITE}-{role}"


@dataclass(frozen=True)
class OpenID:
    """Users log in with an OpenID provider, by Streamlit's own pages; admins and allowed users are e-mail addresses."""

    admins: frozenset[str]
    allowed: frozenset[str]
    may_enter_unknown = True

    def identify(self, request: HTTPConnection) -> User | None:
        """The user in the signed cookie; None if nobody is logged in; InputError if the user is not allowed."""
        claims = streamlit_internals.openid_claims(request.cookies)
        if not claims:
            return None
        issuer, subject = str(claims.get("iss", "")), str(claims.get("sub", ""))
        mail = printable(str(claims.get("email", "")), _LONGEST)
        is_verified = claims.get("email_verified") in (True, "true", None)  # not every provider says so
        if not issuer or not subject or not is_verified or not is_allowed(mail, self.allowed):
            if request.scope["path"].startswith("/auth/"):  # to log out
                return None
            raise InputError(
                f"{mail or 'This account'} may not use this server: log out at /auth/logout, or ask its admin."
            )
        return User(users.enter("openid", f"{issuer}\n{subject}", mail or subject[:20]), mail in self.admins)


def networks(addresses: Collection[str]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    """Addresses and networks of proxies; InputError if a text is neither."""
    result = []
    for text in addresses:
        try:
            result.append(ipaddress.ip_network(text, strict=False))
        except ValueError as error:
            raise InputError(f"--trusted-proxy needs an address, as 127.0.0.1, or a network; got {text}.") from error
    return tuple(result)


def secrets_file(folder: Path) -> Path | None:
    """Streamlit's secrets.toml with the OpenID provider: in the current folder, the user's or the app's."""
    folders = (Path.cwd(), Path.home(), folder)
    return next((path for parent in folders if (path := parent / ".streamlit" / "secrets.toml").is_file()), None)

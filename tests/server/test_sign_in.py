"""Nobody gets past the door who should not, by any header, cookie, link or address."""

import json

import pytest
from user_world import Answer, ask

from disco.errors import InputError
from disco.server import sign_in, streamlit_internals, users
from disco.server.middleware import ROLE_HEADER, USER_HEADER, Authentication
from disco.server.sign_in import Invitation, OpenID, ProxyHeader, is_allowed, networks
from disco.server.users import User

PROXY = "10.0.0.2"


class Behind:
    """What lies behind the door: it notes who came in."""

    def __init__(self) -> None:
        self.seen: list[dict[str, str]] = []

    async def __call__(self, scope, receive, send):
        self.seen.append({name.decode(): value.decode() for name, value in scope["headers"]})
        kind = "websocket.accept" if scope["type"] == "websocket" else "http.response.start"
        await send({"type": kind, "status": 200, "headers": []})
        if scope["type"] == "http":
            await send({"type": "http.response.body", "body": b"in"})


@pytest.fixture
def behind() -> Behind:
    return Behind()


def door(way, behind, files=()) -> Authentication:
    """A door; `files` are pairs of a user's id and a file."""
    return Authentication(behind, way, lambda user, file: (user.id, file) in files, lambda why, asked: None)


def by_header(**more) -> ProxyHeader:
    return ProxyHeader("X-Forwarded-User", networks([PROXY, "fd00::/8"]), **more)


# A proxy's header ------------------------------------------------------------------------------------------------


def test_the_header_of_the_proxy_names_the_user(behind):
    entry = door(by_header(admins=frozenset({"root"})), behind)
    for name, role in (("ada", None), ("root", "admin")):
        assert ask(entry, "/graph", PROXY, x_forwarded_user=name).body == "in"
        assert behind.seen[-1].get(ROLE_HEADER) == role
        assert User(behind.seen[-1][USER_HEADER]).name == name
    assert ask(entry, "/_stcore/stream", "fd00::7", "websocket", x_forwarded_user="ada").status == 200
    assert len({seen[USER_HEADER] for seen in behind.seen}) == 2


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("path", ["/", "/graph", "/media/a.csv", "/_stcore/stream", "/_stcore/upload_file/a", "//"])
def test_nobody_else_is_believed(behind, kind, path):
    entry = door(by_header(), behind)
    answers = [
        ask(entry, path, peer, kind, x_forwarded_user="ada")
        for peer in ("127.0.0.1", "10.0.0.3", "", "::1", "fe80::1", "10.0.0.2.evil.org", "10.0.0.02")
    ]
    answers += [
        ask(entry, path, PROXY, kind, **{"x_forwarded_user": name} if name is not None else {})
        for name in (None, "", "  ", "a" * 201, "a\x1b[2J")
    ]
    answers.append(ask(entry, path, PROXY, kind, x_disco_user="a" * 32, x_disco_role="admin"))
    answers.append(ask(entry, path, "10.0.0.3", kind, x_forwarded_for=PROXY, x_forwarded_user="ada"))
    assert {answer.status for answer in answers} == {403 if kind == "http" else 1008}
    assert behind.seen == []


def test_a_header_that_comes_twice_names_nobody(behind):
    entry = door(by_header(), behind)
    assert ask(entry, "/", PROXY, x_forwarded_user=["ada", "eve"]).status == 403


def test_the_headers_of_the_door_are_never_taken_from_outside(behind):
    entry = door(by_header(), behind)
    ask(entry, "/", PROXY, x_forwarded_user="ada", x_disco_user="f" * 32, x_disco_role="admin")
    assert ROLE_HEADER not in behind.seen[0]
    assert behind.seen[0][USER_HEADER] == users.user_id("header", "ada")


def test_whoever_is_not_allowed_is_told_so(behind):
    entry = door(by_header(allowed=frozenset({"@lab.org", "eve@web.org"})), behind)
    for name, status in (("ada@lab.org", 200), ("Eve@web.org", 200), ("mal@evil-lab.org.uk", 403), ("xlab.org", 403)):
        assert ask(entry, "/", PROXY, x_forwarded_user=name).status == status, name
    assert is_allowed("anybody", ["*"]) and is_allowed("anybody", []) and not is_allowed("", ["@lab.org"])


@pytest.mark.parametrize("bad", ["", "proxy", "10.0.0.300", "10.0.0.1/99", "http://10.0.0.1"])
def test_a_proxy_is_an_address_or_a_network(bad):
    with pytest.raises(InputError, match="--trusted-proxy needs an address"):
        networks([bad])


# An invitation ---------------------------------------------------------------------------------------------------


@pytest.fixture
def invited(behind) -> Authentication:
    return door(Invitation({"user": "u" * 24, "admin": "a" * 24}, most=3), behind)


def click(door: Authentication, path: str, **given: str) -> Answer:
    """Whoever has opened a link clicks on the button there."""
    return ask(door, path, method="POST", **given)


def cookie(answer: Answer) -> str:
    return answer.headers["set-cookie"].split(";")[0]


def test_the_link_gives_a_space_that_the_cookie_finds_again(invited, behind):
    first = click(invited, "/graph", query=f"invite={'u' * 24}&run=x")
    assert (first.status, first.headers["location"]) == (303, "./graph?run=x")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(first.headers["set-cookie"].split("; "))
    assert ask(invited, "/graph", cookie=cookie(first)).body == "in"
    again = ask(invited, "/", query=f"invite={'u' * 24}", cookie=cookie(first))
    assert again.status == 303 and "set-cookie" not in again.headers  # no second space
    other = click(invited, "/", query=f"invite={'u' * 24}")
    ask(invited, "/", cookie=cookie(other))
    assert behind.seen[0][USER_HEADER] != behind.seen[1][USER_HEADER] and ROLE_HEADER not in behind.seen[0]
    secret = cookie(first).partition("=")[2]
    kept = [path.read_text() + str(path) for path in users.users_root().rglob("user.json")]
    assert len(kept) == 2 and not any(secret in text for text in kept)


def test_the_admins_link_makes_an_admin_and_the_other_none(invited, behind):
    user = click(invited, "/", query=f"invite={'u' * 24}")
    assert ask(invited, "/", query=f"invite={'a' * 24}", cookie=cookie(user)).status == 200
    admin = click(invited, "/", query=f"invite={'a' * 24}", cookie=cookie(user))
    for answer, role in ((user, None), (admin, "admin")):
        ask(invited, "/", cookie=cookie(answer))
        assert behind.seen[-1].get(ROLE_HEADER) == role


@pytest.mark.parametrize("path", ["//evil.org/", "/javascript:alert(1)", "/a/b/../..//evil.org", "/\\evil.org"])
def test_the_link_leads_to_no_other_host(invited, path):
    location = click(invited, path, query=f"invite={'u' * 24}").headers["location"]
    assert location.startswith("./") and not location.startswith(".//")


def test_without_an_invitation_nobody_comes_in(invited, behind):
    tries = ["disco_space=", "disco_space=x", f"disco_space={'u' * 24}", "disco_space=..", f"disco_space={'a' * 32}"]
    for one in tries:
        for kind in ("http", "websocket"):
            assert ask(invited, "/", kind=kind, cookie=one).status in (403, 1008)
    for token in ("", "x", "u" * 23, "u" * 25, "admin", "%C3%A9", "%ff", "%00", "%ed%a0%80"):
        for method in ("GET", "POST"):
            assert ask(invited, "/", query=f"invite={token}", method=method).status == 403
    assert ask(invited, "/_stcore/stream", kind="websocket", query=f"invite={'u' * 24}").status == 1008
    assert behind.seen == [] and users.everybody() == []


def test_a_server_takes_only_so_many_guests_and_always_the_admin(invited, behind):
    assert [click(invited, "/", query=f"invite={'u' * 24}").status for _ in range(4)] == [303, 303, 303, 403]
    assert "the most that it takes" in ask(invited, "/", query=f"invite={'u' * 24}").body
    admin = click(invited, "/", query=f"invite={'a' * 24}")
    assert admin.status == 303 and ask(invited, "/", cookie=cookie(admin)).body == "in"
    assert behind.seen[-1][ROLE_HEADER] == "admin"


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PROPFIND"])
def test_a_look_at_a_link_makes_no_space(invited, behind, method):
    """A preview of the link in a chat, or a browser without cookies, may look at it any number of times."""
    for token in "ua":
        for _ in range(40):
            found = ask(invited, "/graph", query=f"invite={token * 24}&run=x", method=method)
            assert found.status == 200 and "set-cookie" not in found.headers
            assert '<form method="post"><button>Open my space</button></form>' in found.body
            assert found.headers["cache-control"] == "no-store"
    assert behind.seen == [] and users.everybody() == []


def test_links_stay_the_same_until_new_ones_are_wanted():
    first = sign_in.invitations()
    assert sign_in.invitations() == first and len(set(first.values())) == 2
    path = users.users_root() / "invitations.json"
    assert path.stat().st_mode & 0o077 == 0
    second = sign_in.invitations(are_new=True)
    assert not set(second.values()) & set(first.values()) and sign_in.invitations() == second
    for damaged in ("[", json.dumps({"user": 5, "admin": "x" * 30}), json.dumps({"user": "", "admin": ""})):
        path.write_text(damaged)
        assert all(len(token) > 20 for token in sign_in.invitations().values())


# OpenID ----------------------------------------------------------------------------------------------------------


def test_openid_lets_the_allowed_in_and_others_only_to_the_pages_to_log_in(behind, monkeypatch):
    entry = door(OpenID(frozenset({"root@lab.org"}), frozenset({"@lab.org"})), behind)
    claims = {"is_logged_in": True, "iss": "https://id.org", "sub": "1", "email": "ada@lab.org", "email_verified": True}
    said: dict = {}
    monkeypatch.setattr(streamlit_internals, "openid_claims", lambda cookies: said)
    assert ask(entry, "/").body == "in" and USER_HEADER not in behind.seen[-1]
    assert ask(entry, "/media/a.csv").status == 403
    for changes, status, role in (
        ({}, 200, None),
        ({"email": "root@lab.org", "sub": "2"}, 200, "admin"),
        ({"email": "eve@web.org"}, 403, None),
        ({"email_verified": False}, 403, None),
        ({"sub": ""}, 403, None),
        ({"iss": ""}, 403, None),
    ):
        said.clear()
        said.update(claims | changes)
        assert ask(entry, "/").status == status, changes
        if status == 200:
            assert behind.seen[-1].get(ROLE_HEADER) == role and behind.seen[-1][USER_HEADER]
        else:
            assert ask(entry, "/auth/logout").body == "in"
    assert len(users.everybody()) == 2


# All ways --------------------------------------------------------------------------------------------------------


def test_a_download_is_for_those_for_whom_it_was_made(behind):
    ada, eve = (users.user_id("header", name) for name in ("ada", "eve"))
    entry = door(by_header(), behind, {(ada, "f00.csv")})
    for name, path, status in (("ada", "f00.csv", 200), ("eve", "f00.csv", 404), ("ada", "f01.csv", 404)):
        assert ask(entry, f"/media/{path}", PROXY, x_forwarded_user=name).status == status
    assert eve != ada


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/agent/interact", "/_stcore/script-health-check"])
def test_what_tells_of_others_is_closed_to_everybody(behind, path):
    entry = door(by_header(admins=frozenset({"root"})), behind)
    assert ask(entry, path, PROXY, x_forwarded_user="root").status == 404 and behind.seen == []


@pytest.mark.parametrize("path", ["/health", "/_stcore/health"])
def test_a_supervisor_needs_no_name(behind, path):
    assert ask(door(by_header(), behind), path, "10.9.9.9").body == "in"

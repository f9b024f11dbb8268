"""A real server of many users: two guests and their links, what neither reaches of the other, and a stop in between."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from browser_world import ROOT, press, served, until
from made_up import finished_run, refine_by_hand
from openid_world import CLIENT, SECRET, provider
from playwright.sync_api import Browser, BrowserContext, Page, expect

from disco import space
from disco.runs import Run
from disco.server import users
from disco.server.many_users import ManyUsers
from disco.server.user_limits import UserLimits
from disco.server.users import User

pytestmark = pytest.mark.browser

Guest = tuple[Page, User]


@pytest.fixture
def log(tmp_path: Path) -> Callable[[], str]:
    """What the server has said so far."""
    return lambda: (tmp_path / "server.log").read_text()


@pytest.fixture
def come(chromium: Browser, log: Callable[[], str]):
    """Opens the link for all or for the admin in a new profile: the page, and the user it makes."""
    contexts: list[BrowserContext] = []

    def enter(who: str = "all") -> Guest:
        context = chromium.new_context(accept_downloads=True)
        contexts.append(context)
        page = context.new_page()
        page.goto(re.search(rf"For (?:the )?{who}: +(\S+)", log())[1])
        page.get_by_role("button", name="Open my space").click()
        expect(page.get_by_role("heading", name="What drives what?")).to_be_visible()
        (secret,) = [one["value"] for one in context.cookies() if one["name"] == "disco_space"]
        role = "admin" if who == "admin" else "user"
        return page, User(users.user_id(f"invite-{role}", secret), role == "admin")

    yield enter
    for context in contexts:
        context.close()


# Runs at the start of every Python process that finds it: a connection to another machine is noted and refused.
_REFUSING = """import os, sys
def hear(event, given):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        where = given[1] if event != "socket.getaddrinfo" else given
        host = where[0] if isinstance(where, tuple) else ""
        if host and str(host) not in ("127.0.0.1", "::1", "localhost", "0.0.0.0"):
            with open(os.environ["TOLD"], "a") as file:
                file.write(f"{event} {where} by {sys.argv}\\n")
            raise PermissionError("no connection to another machine")
sys.addaudithook(hear)
"""


@pytest.fixture
def refusing(tmp_path):
    """Environment in which connections to other machines are noted and refused; none may have been tried."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(_REFUSING)
    told = tmp_path / "connections.txt"
    around = {"PYTHONPATH": f"{tmp_path / 'hook'}{os.pathsep}{ROOT}", "TOLD": str(told)}
    asked = "import socket\nsocket.socket().connect(('192.0.2.1', 80))"
    tried = subprocess.run(
        [sys.executable, "-c", asked], env={**os.environ, **around}, capture_output=True, check=False
    )
    assert b"no connection to another machine" in tried.stderr and "192.0.2.1" in told.read_text()
    told.unlink()
    yield around
    assert not told.exists(), told.read_text()


def work_for(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process work for a user of the server."""
    monkeypatch.setattr(users, "_identify", lambda: user)
    monkeypatch.setattr(space, "_current", ManyUsers(UserLimits()))


def made(user: User, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of a user."""
    work_for(user, monkeypatch)
    run = refine_by_hand(finished_run(6))
    run.rename("unheard-of")
    return run


def test_guests_share_a_run_by_a_link_and_reach_nothing_else(come, log, tmp_path, monkeypatch, refusing):
    monkeypatch.setenv("DISCO_RUNS", str(tmp_path / "runs"))
    with served(tmp_path / "runs", "serve", "--invite", **refusing) as address:
        (ada, owner), (bob, reader) = come(), come()
        assert owner.id != reader.id
        run = made(owner, monkeypatch)
        ada.goto(f"{address}/graph?run={run.id}")
        press(ada, f"Guest {owner.id[:4]}")
        ada.get_by_label("Your name").fill("Ada")
        ada.keyboard.press("Enter")
        expect(ada.get_by_role("button", name=f"Ada ({owner.id[:4]})")).to_be_visible()
        ada.keyboard.press("Escape")
        press(ada, "Share")
        press(ada, "Make a link")
        link = ada.locator("code", has_text="shared~").inner_text()
        ada.keyboard.press("Escape")
        bob.goto(f"{address}/graph?run={run.id}")
        expect(bob.get_by_text(f"There is no run {run.id}")).to_be_visible()
        bob.goto(link)
        expect(bob.get_by_text(f"unheard-of is shown to you by Ada ({owner.id[:4]})")).to_be_visible()
        expect(bob.locator(".canvas .node").first).to_be_visible()
        ada.goto(f"{address}/ordering?run={run.id}")
        with ada.expect_response(re.compile("/media/")) as made_file:
            ada.get_by_role("button", name="Order, CSV").click()
        file = made_file.value
        assert file.status == 200 and "x1" in file.text()
        assert bob.request.get(file.url).status == 404  # the address of another user's download
        for headers in ({}, {"Cookie": "disco_space=guessed"}, {"X-Disco-User": owner.id}):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(urllib.request.Request(file.url, headers=headers), timeout=30)
        health = json.load(urllib.request.urlopen(f"{address}/health", timeout=30))
        assert health["ok"] and health["sessions"] == 2
        policy = ada.request.get(address).headers["content-security-policy"]
        assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy
    refused = [json.loads(line) for line in log().splitlines() if '"refused"' in line]
    assert {one["path"] for one in refused} >= {file.url.removeprefix(address)}


def test_a_killed_server_comes_back_with_its_queue_and_its_pages(come, log, tmp_path, monkeypatch, refusing):
    """Server and job are killed in the same moment, as when the machine stops."""
    root = tmp_path / "runs"
    monkeypatch.setenv("DISCO_RUNS", str(root))
    with pytest.raises(AssertionError), served(root, "serve", "--invite", **refusing) as address:
        page, user = come()
        press(page, "Load simulated counts")
        press(page, "Find the graph")
        expect(page.locator(".st-key-finding").get_by_text("Likelihood search")).to_be_visible()
        children = psutil.Process().children(recursive=True)
        (server,) = [one for one in children if "serve" in one.cmdline()]
        for process in [*server.children(recursive=True), server]:
            os.kill(process.pid, signal.SIGKILL)
    assert not server.is_running()  # what failed before the stop is no stop
    work_for(user, monkeypatch)
    with served(root, "serve", "--invite", port=int(address.rpartition(":")[2]), **refusing) as again:
        assert again == address
        until(page, lambda: '"goes on"' in log(), "The job does not go on.")
        expect(page.get_by_text("directions are decided")).to_be_visible()
        assert "/graph?run=" in page.url


def test_users_of_an_openid_provider_log_in_if_they_may(page, log, tmp_path, monkeypatch):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with provider() as lab:
        (tmp_path / ".streamlit").mkdir()
        facts = {
            "redirect_uri": f"http://127.0.0.1:{port}/oauth2callback",
            "cookie_secret": "x" * 40,
            "client_id": CLIENT,
            "client_secret": SECRET,
            "server_metadata_url": f"{lab.address}/.well-known/openid-configuration",
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in facts.items()]
        (tmp_path / ".streamlit" / "secrets.toml").write_text("\n".join(["[auth]", *lines]))
        words = ("serve", "--openid", "--allow", "@lab.org", "--admin", "ada@lab.org")
        with served(tmp_path / "runs", *words, port=port, folder=tmp_path) as address:
            page.goto(f"{address}/graph")
            expect(page.get_by_role("button", name="Log in")).to_be_visible()
            expect(page.get_by_test_id("stSidebar")).to_have_count(0)
            lab.claims = {"sub": "1", "email": "ada@lab.org", "email_verified": True}
            page.get_by_role("button", name="Log in").click()
            expect(page.get_by_text(re.compile("ada.?@lab.org · admin"))).to_be_visible()
            press(page, "Log out")
            expect(page.get_by_role("button", name="Log in")).to_be_visible()
            lab.claims = {"sub": "2", "email": "eve@web.org", "email_verified": True}
            page.get_by_role("button", name="Log in").click()
            expect(page.get_by_text("eve@web.org may not use this server")).to_be_visible()

"""disco serve: what it refuses to begin with, and the links that it prints."""

import threading

import pytest

from disco import space, system
from disco.__main__ import main
from disco.cli.options import specified
from disco.commands import parse
from disco.errors import InputError
from disco.server import log, page_lock, start, users
from disco.server import serve_command as serve
from disco.server.sessions import Downloads
from disco.server.sign_in import Invitation, OpenID, ProxyHeader
from disco.server.user_limits import UserLimits
from disco.work import ahead

PROXY = ("--user-header", "X-User", "--trusted-proxy", "10.0.0.2")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Say how users are told apart: --invite, --user-header or --openid"),
        (("--host", "0.0.0.0"), "Say how users are told apart"),
        (("--invite", *PROXY), "told apart by one way"),
        (("--user-header", "X-User"), "needs --trusted-proxy"),
        (("--user-header", "X-User", "--trusted-proxy", "proxy"), "needs an address"),
        (("--invite", "--admin", "ada"), "leave out --admin"),
        (("--openid", "--allow", "*"), "secrets.toml"),
        (("--invite", "--host", "lab"), "--host needs an address"),
        (("--invite", "--most-jobs", "0"), "jobs must be at least 1"),
        (("--invite", "--disk", "-1"), "disk must be greater than 0"),
        (("--invite", "--minutes", "nan"), "minutes must be a finite number"),
        (("--invite", "--port", "99999"), "--port must lie between"),
        (("--invite", "--port", "0"), "--port must lie between"),
    ],
)
def test_what_cannot_be_served_is_refused_in_a_sentence(words, sentence, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["serve", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


def test_the_options_make_the_way_and_the_limits(tmp_path, monkeypatch):
    found = serve._sign_in(parse(["serve", *PROXY, "--admin", "ada", "--allow", "@lab.org"]))
    assert isinstance(found, ProxyHeader) and found.admins == {"ada"} and found.allowed == {"@lab.org"}
    found = serve._sign_in(parse(["serve", "--invite", "--users", "7", "--https"]))
    assert isinstance(found, Invitation) and (found.most, found.is_secure) == (7, True)
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text("[auth]\n")
    monkeypatch.chdir(tmp_path)
    assert isinstance(serve._sign_in(parse(["serve", "--openid", "--allow", "*"])), OpenID)
    with pytest.raises(InputError, match="needs --allow"):
        serve._sign_in(parse(["serve", "--openid"]))
    words = ["--most-runs", "5", "--disk", "0.5", "--most-cells", "99", "--most-jobs", "2", "--minutes", "1.5"]
    limits = specified(parse(["serve", "--invite", *words, "--memory", "3"]), UserLimits)
    assert UserLimits(**limits) == UserLimits(5, 0.5, 99, 2, 1.5, 3.0)


def test_a_server_compiles_before_anybody_asks(monkeypatch):
    begun = threading.Event()
    for where, name in ((page_lock, "take"), (system, "share_one_core"), (log, "begin"), (Downloads, "watch")):
        monkeypatch.setattr(where, name, lambda *_: None)  # they change the whole process
    monkeypatch.setattr(users, "_identify", None)
    monkeypatch.setattr(space, "_current", space.current())
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "")
    monkeypatch.setattr(ahead, "is_done", begun.is_set)
    monkeypatch.setattr(ahead, "ensure", begun.set)
    monkeypatch.setattr(start, "serve", lambda script, host, port, said, *changes, **options: said())
    assert main(["serve", "--invite"]) == 0
    assert begun.wait(60)


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["--host", "127.0.0.1"], "http://127.0.0.1:8600/?invite="),
        (["--name", "lab.org", "--https"], "https://lab.org/?invite="),  # behind a proxy
        (["--name", "lab.org", "--host", "0.0.0.0"], "http://lab.org:8600/?invite="),
    ],
)
def test_the_links_lead_to_the_server(words, where):
    arguments = parse(["serve", "--invite", *words])
    lines = serve._lines(arguments, 8600)
    assert all(where in line for line in lines[:2]) and lines[0] != lines[1]
    assert {"127.0.0.1", "localhost"} <= set(serve._names(arguments))

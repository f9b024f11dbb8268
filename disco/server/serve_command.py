"""disco serve: the app for many users, each with runs of their own."""

import argparse
import os
import socket
import threading
from importlib import import_module
from ipaddress import ip_address
from typing import TYPE_CHECKING

from disco.cli import options
from disco.cli.saying import say
from disco.errors import InputError
from disco.server.user_limits import UserLimits

if TYPE_CHECKING:
    from disco.server.middleware import SignIn

_SIGN_IN = "--invite, --user-header or --openid"


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (%(default)s)")
    command.add_argument("--port", type=int, help="default: 8501, or the next free one")
    name_help = "a name by which browsers know the server; repeat it"
    command.add_argument("--name", action="append", default=[], metavar="HOST", help=name_help)
    command.add_argument("--https", action="store_true", help="browsers reach it by https")
    users = command.add_argument_group("how users are told apart")
    users.add_argument("--invite", action="store_true", help="by a link: whoever opens it gets a private space")
    users.add_argument("--new-links", action="store_true", help="with --invite: the former links let in nobody else")
    users.add_argument("--users", type=int, default=200, metavar="N", help="with --invite: most spaces (%(default)s)")
    users.add_argument("--user-header", metavar="NAME", help="by a header of a proxy, as X-Forwarded-User")
    users.add_argument(
        "--trusted-proxy", action="append", default=[], metavar="ADDRESS", help="the proxy, as 127.0.0.1; repeat it"
    )
    users.add_argument("--openid", action="store_true", help="by OpenID Connect, set up in .streamlit/secrets.toml")
    users.add_argument("--allow", action="append", default=[], metavar="WHO", help="a name, or @lab.org; repeat it")
    users.add_argument("--admin", action="append", default=[], metavar="NAME", help="an admin; repeat it")
    options.add(command.add_argument_group("what one user may use"), UserLimits)


def run(arguments: argparse.Namespace) -> None:
    """Serve the app to many users until Ctrl-C or SIGTERM.

    Raises:
        InputError: no authentication is chosen, an option does not suit the others, or the port is taken.
    """
    from starlette.applications import Starlette

    from disco import system
    from disco.server import all_jobs, health, log, many_users, page_lock, sessions
    from disco.server.middleware import Authentication
    from disco.server.start import find_app, free_port, serve
    from disco.server.user_limits import UserLimits
    from disco.work import ENGINE

    try:
        ip_address(arguments.host)
    except ValueError:
        raise InputError(
            f"--host needs an address of this machine, as 0.0.0.0 for all; got {arguments.host}."
        ) from None
    sign_in = _sign_in(arguments)
    limits = UserLimits(**options.specified(arguments, UserLimits))
    script, port = find_app(), free_port(arguments.port, arguments.host)
    # uvicorn would report the address of a proxy's client as the peer; authentication needs the proxy's address.
    os.environ["FORWARDED_ALLOW_IPS"] = ""
    many_users.serve(sessions.session_user, limits)
    for name in ENGINE:  # before the first page, which would share the interpreter with these imports
        import_module(name)
    page_lock.take()
    system.share_one_core()
    restarted = all_jobs.restart()  # before the first page, which would not look again at interrupted work
    downloads = sessions.Downloads()
    downloads.watch()

    def refused(why: str, request: object) -> None:
        log.event("refused", why=why, path=getattr(request, "scope", {}).get("path", ""))

    def authenticate(app: Starlette) -> None:
        app.add_middleware(Authentication, sign_in=sign_in, may_read=downloads.may_read, refused=refused)

    def announce() -> None:
        log.begin()
        for line in _lines(arguments, port):
            say(line)
        for job in restarted:
            log.event("goes on", user=job.user.id, run=job.run.id, work=job.work.name)
        threading.Thread(target=_compile, name="disco-compiler", daemon=True).start()
        log.event("started", host=arguments.host, port=port, sign_in=type(sign_in).__name__)

    configuration = {
        "server_headless": True,
        "server_trustedUserHeaders": sessions.HEADERS,
        "server_allowedHosts": _names(arguments),
    }
    serve(script, arguments.host, port, announce, health.add, authenticate, **configuration)


def _compile() -> None:
    """Compile before the first request: on a new machine a class that searches would wait for minutes."""
    from disco.server import log
    from disco.work import ahead

    if not ahead.is_done():
        log.event("compiles the likelihood, once on this computer")
        ahead.ensure()
        log.event("compiled")


def _sign_in(arguments: argparse.Namespace) -> "SignIn":
    """How users are authenticated; InputError unless exactly one method is chosen."""
    from disco.server import sign_in

    chosen = [arguments.invite, arguments.user_header is not None, arguments.openid]
    if sum(chosen) != 1:
        problem = "Users must be told apart by one way" if any(chosen) else "Say how users are told apart"
        raise InputError(f"{problem}: {_SIGN_IN}. For yourself alone, use disco app.")
    admins, allowed = frozenset(arguments.admin), frozenset(arguments.allow)
    if arguments.invite:
        if admins or allowed:
            raise InputError("With --invite nobody has a name: leave out --admin and --allow.")
        return sign_in.Invitation(sign_in.invitations(arguments.new_links), arguments.users, arguments.https)
    if arguments.user_header is not None:
        if not arguments.trusted_proxy:
            raise InputError("--user-header needs --trusted-proxy, the address of the proxy that sends it.")
        return sign_in.ProxyHeader(arguments.user_header, sign_in.networks(arguments.trusted_proxy), admins, allowed)
    return _openid(admins, allowed)


def _openid(admins: frozenset[str], allowed: frozenset[str]) -> "SignIn":
    from disco.server import sign_in
    from disco.server.start import find_app

    try:
        import authlib  # noqa: F401
    except ImportError:
        raise InputError("--openid needs Authlib: pip install .[openid].") from None
    if sign_in.secrets_file(find_app().parent) is None:
        raise InputError("--openid needs .streamlit/secrets.toml with the section [auth] of your provider.")
    if not allowed:
        raise InputError(
            "--openid needs --allow: addresses, as ada@lab.org or @lab.org, or '*' for all at the provider."
        )
    return sign_in.OpenID(admins, allowed)


def _names(arguments: argparse.Namespace) -> list[str]:
    import psutil

    if arguments.name:
        return [*arguments.name, "127.0.0.1", "localhost"]
    kinds = (socket.AF_INET, socket.AF_INET6)
    interfaces = [address for addresses in psutil.net_if_addrs().values() for address in addresses]
    addresses = [address.address.partition("%")[0] for address in interfaces if address.family in kinds]
    return ["localhost", socket.gethostname(), *addresses]


def _lines(arguments: argparse.Namespace, port: int) -> list[str]:
    from disco.server import sign_in
    from disco.server.users import INVITE

    is_everywhere = arguments.host in ("0.0.0.0", "::")  # noqa: S104 - asked for
    name = next(iter(arguments.name), socket.gethostname() if is_everywhere else arguments.host)
    is_behind_a_proxy = bool(arguments.name) and ip_address(arguments.host).is_loopback
    where = f"{'https' if arguments.https else 'http'}://{name}" + ("" if is_behind_a_proxy else f":{port}")
    if not arguments.invite:
        return [f"DISCO serves at {where}. Press Ctrl-C to stop it."]
    tokens = sign_in.invitations()
    return [
        f"For all:       {where}/?{INVITE}={tokens['user']}",
        f"For the admin: {where}/?{INVITE}={tokens[sign_in.ADMIN]}",
        "Whoever opens a link gets a private space by a click there. Press Ctrl-C to stop the server.",
    ]

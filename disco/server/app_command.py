"""disco app: the Streamlit app on this machine."""

import argparse

from disco.cli import options
from disco.cli.saying import say


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--port", type=int, help="default: 8501, or the next free one")
    command.add_argument("--headless", action="store_true", help="do not open a browser")
    options.cluster(command)


def run(arguments: argparse.Namespace) -> None:
    """Serve the app until Ctrl-C, and open the browser unless `--headless`.

    Raises:
        InputError: the app's pages are missing, the port is taken, or the cluster cannot be used.
    """
    from disco.server.start import HERE, find_app, free_port, serve

    script = find_app()
    if arguments.cluster:
        from disco.work import where

        where.choose(arguments.cluster)  # from now on, as if chosen in the app
    port = free_port(arguments.port)

    def announce() -> None:
        say(f"DISCO runs at http://{HERE}:{port}. Press Ctrl-C to stop it.")

    serve(script, HERE, port, announce, server_headless=arguments.headless)

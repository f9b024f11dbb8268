"""The frame of the app: page settings, shared state, the menu, the sidebar."""

import gc
import sys
from functools import partial
from pathlib import Path

import streamlit as st

HOME = Path(__file__).resolve().parent
if str(HOME) not in sys.path:
    sys.path.insert(0, str(HOME))

from disco.errors import InputError  # noqa: E402
from disco.server.streamlit_internals import refuse_other_origins  # noqa: E402 - after the path is set
from pages.shared import session  # noqa: E402
from pages.shared.compute import machine  # noqa: E402
from pages.shared.frame import gate, intro, sidebar  # noqa: E402
from pages.shared.widgets.names import plain  # noqa: E402

PAGES = {
    "Answer": (
        ("data", "Data", ":material/table_view:"),
        ("graph", "Graph", ":material/hub:"),
        ("effects", "Effects", ":material/trending_up:"),
        ("experiments", "Experiments", ":material/experiment:"),
        ("compare", "Compare", ":material/compare_arrows:"),
        ("runs", "Runs", ":material/folder_open:"),
    ),
    "Step by step": (
        ("preprocess", "Preprocess", ":material/tune:"),
        ("train", "Train", ":material/model_training:"),
        ("ordering", "Ordering", ":material/format_list_numbered:"),
        ("parents", "Parents", ":material/account_tree:"),
    ),
    "Laboratory": (
        ("simulate", "Simulate", ":material/science:"),
        ("lahman", "Lahman", ":material/sports_baseball:"),
        ("portal", "Portal", ":material/cruelty_free:"),
    ),
}
MOVED = {"data": "data", "refine": "graph"}  # hidden addresses, and the page that each leads to
ADMIN = ("admin", "Server", ":material/dns:")


def main() -> None:
    """Draw the frame and the page that the address asks for."""
    refuse_other_origins()  # also under `streamlit run app.py`
    st.set_page_config(page_title="DISCO", page_icon=str(HOME / "assets/icon.svg"), layout="wide")
    st.logo(str(HOME / "assets/logo.svg"), icon_image=str(HOME / "assets/icon.svg"), size="large")
    st.html(HOME / "assets/app.css")
    if not gate.is_open():
        return
    session.start()
    sections = {heading: [_page(*page) for page in pages] for heading, pages in PAGES.items()}
    answer = sections["Answer"]
    answer += [_page(*ADMIN)] if gate.is_admin() else []
    # The first page has the root as its only address; a hidden page makes /data lead there too.
    answer += [_hidden(address, name) for address, name in MOVED.items()]
    page = st.navigation(sections, expanded=True)
    name = "data" if page.url_path in ("", "start") else page.url_path
    sidebar.draw()
    session.address.arrive(name)
    try:
        intro.steps(name)
        gate.shown_run()
        page.run()
    except intro.Ended:
        pass
    except InputError as error:  # for example a damaged file of the open run; the other pages still work
        st.error(plain(error), icon=":material/error:")
    finally:
        machine.begin()
        _keep(len(sys.modules))


def _page(name: str, title: str, icon: str) -> st.Page:
    first = name == "data"
    return st.Page(f"pages/{name}/page.py", title=title, icon=icon, default=first, url_path="start" if first else name)


def _hidden(address: str, name: str) -> st.Page:
    return st.Page(partial(session.address.go, name), title=name.capitalize(), url_path=address, visibility="hidden")


@st.cache_resource(show_spinner=False)
def _keep(modules: int) -> None:
    """Exempt all loaded objects from garbage collection; repeated when more modules are loaded.

    With torch loaded, each full collection would visit 350,000 permanent objects for up to a fifth of a second, during
    which nothing reaches the browser.
    """
    gc.collect()
    gc.freeze()


main()

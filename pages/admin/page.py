"""Server: for an admin of a server of many users: the queue, the users and what they use; cancel and delete."""

import streamlit as st

from disco.server import users
from pages.admin import sections
from pages.shared.frame import intro

user = users.current()
if user is None or not user.is_admin:  # whoever types the address
    st.error("This page is for an admin of the server.", icon=":material/lock:")
    intro.end()
intro.page_intro("Server", "All users, their work and what they use. What you do here is written to the server's log.")
sections.queue()
sections.user_list()

"""The app as a server: for this machine alone (`disco app`), or for many users (`disco serve`).

The only part of the engine that imports Streamlit.
"""

"""Every figure of the app as a Plotly figure, for pages and notebooks; nothing here imports Streamlit."""

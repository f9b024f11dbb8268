"""What all figures share: the theme, labels, axes; nothing here imports Streamlit."""

"""The frame of every page: titles, empty states, help, figures, names, the sidebar."""

"""What frames every page: titles, empty states, help, figures, names, the sidebar."""

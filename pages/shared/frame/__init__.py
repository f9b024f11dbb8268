"""The frame of a page: its opening, empty states, the steps, the sidebar, who uses the app."""

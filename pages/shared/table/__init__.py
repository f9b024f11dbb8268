"""The table being prepared, and facts about it."""

"""Common causes that are not in the table: a sparse graph against one with hidden roots, or with kinds of rows."""

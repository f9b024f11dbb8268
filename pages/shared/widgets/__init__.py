"""The parts of every page: names, words, help, errors, tables, figures, and widgets for declared options."""

"""Many users at one server: how long a click takes, and whether anything is lost."""

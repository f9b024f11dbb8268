"""The gauntlet: tables that break the model class in ordinary ways, and what the refinement decides on them."""

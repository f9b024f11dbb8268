"""The fit of a run: its work, its time, its files, its networks on the device."""

"""Case studies: the data of Lahman and Portal, and the runs of their pages."""

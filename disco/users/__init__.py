"""Users: on a server, each has a private folder of runs; elsewhere there is one user and one folder.

RUNS/                  all runs, if there is one user; the queue, the speed of this machine
RUNS/users/ID/         the runs of one user (`disco.users.roots`), user.json with their name
RUNS/users/shares/     one file per link to a shared run (`disco.users.shares`)
RUNS/users/examples/   runs that an admin shows to all
"""

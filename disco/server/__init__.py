"""The app as a server: for this machine alone (`disco app`), or for many users (`disco serve`).

RUNS/                  all runs, if there is one user; the queue, the speed of this machine
RUNS/users/ID/         the runs of one user (`disco.server.users`), user.json with their name
RUNS/users/shares/     one file per link to a shared run (`disco.server.shares`)
RUNS/users/examples/   runs that an admin shows to all
"""

"""The work of all users of a server: what is going on, and what goes on after the server was stopped."""

from dataclasses import dataclass

from disco.errors import InputError
from disco.runs import Run, Status, Work, find_runs
from disco.runs.status import WORKS
from disco.users import roots
from disco.users.roots import User
from disco.work import jobs, turns


@dataclass(frozen=True)
class Job:
    """Work on a run of a user, given by id; `wait` is what it waits for, None unless it is in a queue."""

    user: str
    run: Run
    work: Work
    status: Status
    wait: turns.Wait | None = None


def going_on() -> list[Job]:
    """The running work, then the queued work in the order of its turns, of all users; for an admin."""
    active = [job for job in _jobs() if job.status.active]
    return sorted(active, key=lambda job: (job.status.state != "running", *_turn(job)))


def go_on() -> list[Job]:
    """Restart work interrupted by the end of this machine's processes, in the order in which it was queued."""
    lost = sorted((job for job in _jobs() if job.status.state == "interrupted"), key=lambda job: job.status.queued_at)
    begun: list[Job] = []
    for job in lost:
        if any(job.run == started.run for started in begun):
            continue  # already queued to follow the other work
        rest = [lost_job.work for lost_job in lost if lost_job.run == job.run and lost_job.work != job.work]
        with roots.acting_for(User(job.user)):
            try:
                request = jobs.doing(job.work).request(job.run)
                jobs.start(job.run, job.work, *request, then=next(iter(rest), None), accepted=True)
            except InputError:  # its user finds it interrupted, and learns why when they start it
                continue
        begun.append(job)
    return begun


def _jobs() -> list[Job]:
    """All work of all users that is neither done nor cancelled."""
    unfinished = []
    for user in roots.everyone():
        with roots.acting_for(User(user, is_admin=True)):  # everything is read within this block
            unfinished += [job for run in find_runs(roots.root_of(user))[0] for job in _of(user, run)]
    return unfinished


def _of(user: str, run: Run) -> list[Job]:
    """The work on a run of a user that is neither done nor cancelled."""
    states = [(work, run.status(work)) for work in WORKS.values()]
    unfinished = [(work, status) for work, status in states if status.active or status.state == "interrupted"]
    return [Job(user, run, work, status, jobs.wait_of(run, work)) for work, status in unfinished]


def _turn(job: Job) -> tuple[bool, float]:
    return (job.wait is None, job.status.queued_at if job.wait is None else job.wait.position)

"""The jobs of all users of a server; those interrupted by its end are restarted."""

from dataclasses import dataclass

from disco.errors import InputError
from disco.runs import Run, Status, Work, find_runs
from disco.server import users
from disco.server.users import User
from disco.subjects import WORKS
from disco.work import jobs, turns


@dataclass(frozen=True)
class Job:
    """Work on a run of a user; `wait` is what it waits for, None unless it is in a queue."""

    user: User
    run: Run
    work: Work
    status: Status
    wait: turns.Wait | None = None


def active() -> list[Job]:
    """The running work, then the queued work in the order of its turns, of all users; for an admin."""

    def turn(job: Job) -> tuple[bool, bool, float]:
        is_queued, place = job.status.state != "running", job.wait.position if job.wait else job.status.queued_at
        return is_queued, job.wait is None, place

    return sorted((job for job in _unfinished() if job.status.active), key=turn)


def restart() -> list[Job]:
    """Restart work interrupted by the end of this machine's processes, in the order in which it was queued."""
    interrupted = sorted(
        (job for job in _unfinished() if job.status.state == "interrupted"), key=lambda job: job.status.queued_at
    )
    restarted: list[Job] = []
    for job in interrupted:
        if any(job.run == first.run for first in restarted):
            continue  # already queued to follow the other work
        following = [second.work for second in interrupted if second.run == job.run and second.work != job.work]
        with users.acting_for(job.user):
            try:
                request = jobs.doing(job.work).request(job.run)
                jobs.start(job.run, job.work, *request, then=next(iter(following), None), accepted=True)
            except InputError:  # its user finds it interrupted, and learns why when they start it
                continue
        restarted.append(job)
    return restarted


def _unfinished() -> list[Job]:
    """All work of all users that is neither done nor cancelled."""
    unfinished = []
    for user in users.everybody():
        with users.acting_for(User(user.id, is_admin=True)):  # everything is read within this block
            for run in find_runs(user.folder)[0]:
                states = [(work, run.status(work)) for work in WORKS]
                states = [(work, status) for work, status in states if status.active or status.state == "interrupted"]
                unfinished += [Job(user, run, work, status, jobs.wait_of(run, work)) for work, status in states]
    return unfinished

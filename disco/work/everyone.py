"""The work of all users of a server: what is going on, and what goes on after the server was stopped."""

from dataclasses import dataclass

from disco.errors import InputError
from disco.runs import COMPARE, FIT, REFINE, Run, Status, Work, compared, find_runs
from disco.runs.refined import choice_from
from disco.users import roots
from disco.users.roots import User
from disco.work import jobs, turns

_WORKS = (REFINE, FIT, COMPARE)  # as one process does them, if it does several


@dataclass(frozen=True)
class Job:
    """Work on a run.

    Attributes:
        user: the id of the run's user.
        status: of the work.
        wait: what it waits for; None unless it is in a queue.
    """

    user: str
    run: Run
    work: Work
    status: Status
    wait: turns.Wait | None = None


def going_on() -> list[Job]:
    """The work that is running, then what is queued, in the order of its turns; for an admin."""
    found = [job for job in _jobs() if job.status.active]
    return sorted(found, key=lambda job: (job.status.state != "running", *_turn(job)))


def go_on() -> list[Job]:
    """Start again what ended with the processes of this machine, in the order in which it was queued."""
    lost = sorted((job for job in _jobs() if job.status.state == "interrupted"), key=lambda job: job.status.queued_at)
    begun: list[Job] = []
    for job in lost:
        if any(job.run == other.run for other in begun):
            continue  # begun as what follows the other
        rest = [other.work for other in lost if other.run == job.run and other.work != job.work]
        with roots.acting_for(User(job.user)):
            try:
                jobs.start(job.run, job.work, *_asked(job), then=next(iter(rest), None), accepted=True)
            except InputError:  # its user finds it interrupted, and learns why when they start it
                continue
        begun.append(job)
    return begun


def _jobs() -> list[Job]:
    """All work of all users that is neither done nor cancelled."""
    found = []
    for user in roots.everyone():
        with roots.acting_for(User(user, is_admin=True)):  # nothing leaves this block before all is read
            found += [job for run in find_runs(roots.root_of(user))[0] for job in _of(user, run)]
    return found


def _of(user: str, run: Run) -> list[Job]:
    """The work on a run of a user that is neither done nor cancelled."""
    states = [(work, run.status(work)) for work in _WORKS]
    left = [(work, one) for work, one in states if one.active or one.state == "interrupted"]
    return [Job(user, run, work, one, jobs.wait_of(run, work)) for work, one in left]


def _turn(job: Job) -> tuple[bool, float]:
    return (job.wait is None, job.status.queued_at if job.wait is None else job.wait.place)


def _asked(job: Job) -> tuple[object, ...]:
    """What was asked of the work."""
    if job.work is REFINE:
        return (choice_from(job.status.choice),)
    return (compared.asked(job.run),) if job.work is COMPARE else ()

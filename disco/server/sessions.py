"""A session's user, its downloads, and its uploads."""

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from disco.errors import InputError
from disco.server.door import ADMIN, ROLE_HEADER, USER_HEADER
from disco.users import roots
from disco.users.roots import User

_USER, _ROLE = "disco_user", "disco_role"
HEADERS = {USER_HEADER: _USER, ROLE_HEADER: _ROLE}  # for `server.trustedUserHeaders`
_MOST_UPLOADED = 1 << 30  # bytes of all sessions' uploads


def asking() -> User:
    """The user of this thread's session; InputError without one."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    info = {} if context is None else context.user_info
    user_id = info.get(_USER)
    if not isinstance(user_id, str):
        raise InputError("Nobody is logged in here: load the page again.")
    return User(user_id, info.get(_ROLE) == ADMIN)


class Downloads:
    """Who may read the files that Streamlit stores for buttons and figures.

    A file's address is a hash of its content, and Streamlit serves it to everybody with the address.
    """

    def __init__(self) -> None:
        self._readers: defaultdict[str, set[str]] = defaultdict(set)
        self._lock = threading.Lock()

    def watch(self) -> None:
        """Record for which user Streamlit stores each file."""
        from streamlit.runtime.media_file_manager import MediaFileManager as Manager
        from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage as Storage

        load, delete, defer = Storage.load_and_get_id, Storage.delete_file, Manager.add_deferred

        def loaded(storage: Storage, *args: Any, **kwargs: Any) -> str:
            file = load(storage, *args, **kwargs)
            user = roots.user()
            with self._lock:
                self._readers[file] |= {user.id} if user is not None else set()
            return file

        def deleted(storage: Storage, file: str) -> None:
            with self._lock:
                self._readers.pop(file, None)
            delete(storage, file)

        def deferred(manager: Manager, data: Callable[[], Any], *args: Any, **kwargs: Any) -> str:
            """A file created at the click is created in a separate thread, without a session."""
            user = roots.user()

            def data_for_user() -> Any:
                roots.act_for(user)
                return data()

            return defer(manager, data_for_user, *args, **kwargs)

        Storage.load_and_get_id, Storage.delete_file = loaded, deleted  # type: ignore[assignment, method-assign]
        Manager.add_deferred = deferred  # type: ignore[assignment, method-assign]

    def may_read(self, user: User, file: str) -> bool:
        """Whether a file, as named in its address, was made for a user."""
        with self._lock:
            return user.id in self._readers.get(file.partition(".")[0], ())


def bound_uploads(limit: int = _MOST_UPLOADED) -> None:
    """Limit the bytes of all sessions' uploads together; the oldest are removed first, but never the last one.

    Streamlit stores each upload until its session ends, even when the page has read it and shows an empty box.
    """
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager as Manager
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec as File

    add = Manager.add_file
    arrived: dict[tuple[str, str], None] = {}  # (session, file), in this order

    def added(manager: Manager, session_id: str, file: File) -> None:
        add(manager, session_id, file)
        arrived.pop((session_id, file.file_id), None)
        arrived[session_id, file.file_id] = None
        sizes = {
            (session, upload.file_id): len(upload.data)
            for session, files in list(manager.file_storage.items())
            for upload in list(files.values())
        }
        total = sum(sizes.values())
        for oldest in list(arrived)[:-1]:
            if total > limit:
                manager.remove_file(*oldest)
            elif oldest in sizes:
                break
            total -= sizes.get(oldest, 0)
            del arrived[oldest]

    Manager.add_file = added  # type: ignore[assignment, method-assign]

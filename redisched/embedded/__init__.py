"""The embedded server: started by its first user, shared by all of one host, ended by the last."""

from redisched.embedded.binary import Binary, locate
from redisched.embedded.choice import Choice, choose
from redisched.embedded.control import Facts, ServerStatus, status, stop
from redisched.embedded.folder import data_folder
from redisched.embedded.launcher import Membership, join
from redisched.embedded.server_conf import Fsync

__all__ = [
    "Binary",
    "Choice",
    "Facts",
    "Fsync",
    "Membership",
    "ServerStatus",
    "choose",
    "data_folder",
    "join",
    "locate",
    "status",
    "stop",
]

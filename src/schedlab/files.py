"""Files of results: complete or not there at all, told apart by what they hold, with the versions that wrote them."""

from schedlab.atomic import atomic_path, make_directory
from schedlab.schedule.provenance import versions
from schedlab.streams import file_sha256

__all__ = [
    "atomic_path",
    "file_sha256",
    "make_directory",
    "versions",
]

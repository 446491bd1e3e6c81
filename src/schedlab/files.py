"""Files of results: they appear complete or not at all, and are told apart by what they hold."""

from schedlab.atomic import atomic_path, make_directory
from schedlab.workload.files import file_sha256

__all__ = ["atomic_path", "file_sha256", "make_directory"]

from .executors import local_workers as local_workers
from .handlings import SubmissionComparison as SubmissionComparison
from .handlings import compare_submissions as compare_submissions
from .store import RunDirectory as RunDirectory

from .results.archive import archive as archive
from .results.archive import rerun as rerun
from .results.compare_submissions import SubmissionComparison as SubmissionComparison
from .results.compare_submissions import compare_submissions as compare_submissions
from .run.directory import RunDirectory as RunDirectory
from .run.executors import local_workers as local_workers

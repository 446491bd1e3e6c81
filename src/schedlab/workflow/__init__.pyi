from .files import read_workflow as read_workflow
from .files import write_workflow as write_workflow
from .grouping import group_by_name as group_by_name
from .grouping import merge_chains as merge_chains
from .grouping import rename_by_levels as rename_by_levels
from .workflow import Task as Task
from .workflow import Workflow as Workflow

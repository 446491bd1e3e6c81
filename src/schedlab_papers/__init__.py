"""Published experiments repeated, the paper's numbers beside ours: a module with `reproduce` per paper.

It uses nothing of schedlab but its public names, as a study of one's own would.
"""

from schedlab_papers.reproduction import Reproduction, Reproductions, Row

__all__ = ["Reproduction", "Reproductions", "Row"]

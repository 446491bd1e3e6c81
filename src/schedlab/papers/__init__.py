"""Published experiments repeated, the paper's numbers beside ours: `sc15.reproduce` and `sc17.reproduce`."""

from schedlab.papers.reproduction import Reproduction, Reproductions, Row

__all__ = ["Reproduction", "Reproductions", "Row"]

"""Published experiments repeated, the paper's numbers beside ours: `sc15.reproduce` and `sc17.reproduce`."""

from schedlab.papers.reproduction import Reproduction, Row

__all__ = ["Reproduction", "Row"]
